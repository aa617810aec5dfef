-- Atomic: a job that stands in no list is there, to be queued like any other; one that is there stays as it is.
-- ARGV: job id, spec JSON, what it is, owner or '', most requests of the owner's in the queue or ''
local job = ARGV[1]
if call('EXISTS', key('job', job)) == 1 then return 0 end
call('HSET', key('job', job), 'spec', ARGV[2], 'summary', '', 'status', 'validating', 'created_at', now(),
  'total', 0, 'completed', 0, 'failed', 0, 'reserved', 0, 'open', 0, 'idempotency', '', 'hidden', ARGV[3])
if ARGV[4] ~= '' then call('HSET', key('job', job), 'owner', ARGV[4], 'queued_limit', ARGV[5]) end
return 1
