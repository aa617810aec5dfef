-- Atomic: a final job is nowhere to be found any more, and its id stands among those whose remains are to be removed.
-- What frees memory comes first: a server whose memory is full refuses a script only up to its first write.
-- ARGV: job id
local job = ARGV[1]
local found = call('HMGET', key('job', job), 'status', 'idempotency', 'owner')
local status, idempotency, owner = found[1], found[2], found[3]
if not status then return call('SISMEMBER', key('deleting'), job) == 1 and 'deleting' or 'missing' end
if not FINAL[status] then return status end
call('UNLINK', key('job', job))
call('ZREM', key('jobs'), job)
call('ZREM', key('chats'), job)
call('ZREM', key('in_status', status), job)
if owner then
  call('ZREM', key('jobs_of', owner), job)
  call('ZREM', key('jobs_of', owner .. ':' .. status), job)
end
call('SADD', key('deleting'), job)
if idempotency and idempotency ~= '' and call('HGET', idempotency, 'job') == job then call('UNLINK', idempotency) end
return 'deleting'
