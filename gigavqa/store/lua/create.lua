-- Atomic: the job, its place in the lists and its idempotency key appear together, or the key's earlier job is told, or
-- that too many wait already: of all jobs, or of the owner's.
-- ARGV: job id, spec JSON, spec digest, idempotency key (the server's key, or ''), its TTL in seconds, summary JSON,
-- owner or '', most requests of the owner's in the queue or '', most waiting jobs of all and of the owner's, each or '',
-- most interactive requests of the owner's or '', and the job's priority
local job, spec, digest, idempotency, ttl = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local owner, queued_limit, most, most_owned = ARGV[7], ARGV[8], tonumber(ARGV[9]), tonumber(ARGV[10])
if idempotency ~= '' then
  local earlier = call('HMGET', idempotency, 'job', 'digest')
  if earlier[1] and call('EXISTS', key('job', earlier[1])) == 1 then
    return {earlier[2] == digest and 'same' or 'conflict', earlier[1]}
  end
end
if call('EXISTS', key('job', job)) == 1 then return {'new', job} end
if most and call('ZCARD', key('in_status', 'validating')) >= most then return {'waiting', ''} end
if most_owned and call('ZCARD', key('jobs_of', owner .. ':validating')) >= most_owned then return {'quota', ''} end
local created = now()
call('HSET', key('job', job), 'spec', spec, 'summary', ARGV[6], 'status', 'validating', 'created_at', created,
  'total', 0, 'completed', 0, 'failed', 0, 'reserved', 0, 'open', 0, 'idempotency', idempotency)
if owner ~= '' then
  call('HSET', key('job', job), 'owner', owner, 'queued_limit', queued_limit)
  if ARGV[12] == 'interactive' then call('HSET', key('job', job), 'interactive_limit', ARGV[11]) end
end
call('ZADD', key('jobs'), created, job)
if owner ~= '' then call('ZADD', key('jobs_of', owner), created, job) end
index_job(job, 'validating')
if idempotency ~= '' then
  call('HSET', idempotency, 'job', job, 'digest', digest)
  call('EXPIRE', idempotency, ttl)
end
emit(job, 'status')
return {'new', job}
