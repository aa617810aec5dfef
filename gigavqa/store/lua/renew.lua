-- Atomic: a lease is renewed only while the worker still holds it. So is what is parked for the worker, unless it was
-- released: that stays parked as long as the worker lives, and shows its wait up to half a lease.
-- ARGV: worker, lease in ms, number of lanes that are parked on, these with their models, then fours of lane, entry,
-- `MODEL:IMAGE` or '', delivery. Returns one 0 (lost) or 1 (renewed) a four.
local worker, lease_ms, entries = ARGV[1], tonumber(ARGV[2]), 4 + 2 * tonumber(ARGV[3])

local function renew_parked(stream, model)
  if call('PEXPIRE', key('room', model .. ':' .. worker), lease_ms) == 0 then return end
  local most, parked = math.floor(lease_ms / 2), call('XPENDING', stream, GROUP, '-', '+', 1000, parking(worker))
  for _, p in ipairs(parked) do
    if p[3] > most then call('XCLAIM', stream, GROUP, parking(worker), 0, p[1], 'IDLE', most, 'JUSTID') end
  end
  parked_are(model, worker, #parked)
end

for i = 4, entries - 1, 2 do renew_parked(ARGV[i], ARGV[i + 1]) end
local renewed = {}
for i = entries, #ARGV, 4 do
  local held = call('XPENDING', ARGV[i], GROUP, ARGV[i + 1], ARGV[i + 1], 1, worker)
  if #held == 1 then
    note_clock(ARGV[i])
    call('XCLAIM', ARGV[i], GROUP, worker, 0, ARGV[i + 1], 'IDLE', 0, 'JUSTID')
    if ARGV[i + 2] ~= '' and call('GET', key('owner', ARGV[i + 2])) == worker then
      call('PEXPIRE', key('owner', ARGV[i + 2]), OWNED_MS)
    end
  end
  if #held == 0 or held[1][4] > tonumber(ARGV[i + 3]) then pardon(ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 3])) end
  renewed[#renewed + 1] = #held
end
return renewed
