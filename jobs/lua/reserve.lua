-- Atomic: the whole job gets its place within the limit of outstanding requests, or nothing of it does.
-- ARGV: job id, number of requests, limit, data set digest
local job, requests, limit, digest = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local status = call('HGET', key('job', job), 'status')
if not status then return 'missing' end
if status ~= 'validating' then return status end
if call('HEXISTS', key('job', job), 'total_reserved') == 1 then return 'validating' end
if tonumber(call('GET', key('outstanding')) or 0) + requests > limit then return 'full' end
call('INCRBY', key('outstanding'), requests)
call('HSET', key('job', job), 'total', requests, 'reserved', requests, 'total_reserved', requests,
  'dataset_digest', digest)
return 'validating'
