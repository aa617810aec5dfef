-- Atomic: the job, its place in the list and its idempotency key appear together, or the key's earlier job is told.
-- ARGV: job id, spec JSON, spec digest, idempotency key (the server's key, or ''), its TTL in seconds, summary JSON
local job, spec, digest, idempotency, ttl = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
if idempotency ~= '' then
  local earlier = call('HMGET', idempotency, 'job', 'digest')
  if earlier[1] and call('EXISTS', key('job', earlier[1])) == 1 then
    return {earlier[2] == digest and 'same' or 'conflict', earlier[1]}
  end
end
if call('EXISTS', key('job', job)) == 1 then return {'new', job} end
local created = now()
call('HSET', key('job', job), 'spec', spec, 'summary', ARGV[6], 'status', 'validating', 'created_at', created,
  'total', 0, 'completed', 0, 'failed', 0, 'reserved', 0, 'open', 0, 'idempotency', idempotency)
call('ZADD', key('jobs'), created, job)
index_job(job, 'validating')
if idempotency ~= '' then
  call('HSET', idempotency, 'job', job, 'digest', digest)
  call('EXPIRE', idempotency, ttl)
end
emit(job, 'status')
return {'new', job}
