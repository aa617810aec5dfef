-- Atomic: a lease is renewed only while the worker still holds it.
-- ARGV: worker, then pairs of lane, entry. Returns one 0 (lost) or 1 (renewed) a pair.
local renewed = {}
for i = 2, #ARGV, 2 do
  local held = call('XPENDING', ARGV[i], GROUP, ARGV[i + 1], ARGV[i + 1], 1, ARGV[1])
  if #held == 1 then
    call('XCLAIM', ARGV[i], GROUP, ARGV[1], 0, ARGV[i + 1], 'IDLE', 0, 'JUSTID')
  end
  renewed[#renewed + 1] = #held
end
return renewed
