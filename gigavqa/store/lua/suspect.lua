-- Atomic: the request that is about to run on probation is marked, once a delivery, if its worker still holds it.
-- ARGV: worker, lane, entry, delivery, job id, bundle id, request id
local job, bundle, request = ARGV[5], ARGV[6], ARGV[7]
local held = call('XPENDING', ARGV[2], GROUP, ARGV[3], ARGV[3], 1, ARGV[1])[1]
if not held or held[4] > tonumber(ARGV[4]) then pardon(ARGV[2], ARGV[3], tonumber(ARGV[4])) end
if not held then return 0 end
local _, begun, marked = mark_of(job, bundle)
if marked ~= request then begun = '' end
if not string.find(',' .. begun .. ',', ',' .. held[4] .. ',', 1, true) then
  begun = begun == '' and tostring(held[4]) or begun .. ',' .. held[4]
end
set_mark(job, bundle, held[4], begun, request)
return 1
