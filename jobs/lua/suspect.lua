-- Atomic: the request that is about to run on probation is marked, if the worker still holds its bundle. The mark is
-- `DELIVERY STARTS REQUEST`: how often the request was begun, once a delivery, and the last delivery of them.
-- ARGV: worker, lane, entry, job id, bundle id, request id
local job, bundle, request = ARGV[4], ARGV[5], ARGV[6]
local held = call('XPENDING', ARGV[2], GROUP, ARGV[3], ARGV[3], 1, ARGV[1])[1]
if not held then return 0 end
local delivery, starts, marked = string.match(call('HGET', key('suspects', job), bundle) or '', '^(%d+) (%d+) (.*)$')
if marked ~= request then
  starts = 1
elseif tonumber(delivery) ~= held[4] then
  starts = starts + 1
end
call('HSET', key('suspects', job), bundle, string.format('%d %d %s', held[4], starts, request))
return 1
