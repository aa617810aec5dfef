-- Atomic: a completed or cancelled job is `validating` once more; what it has recorded stays until `append` takes it back.
-- It keeps how it ended, for when nothing of the retry can be queued, and the cursor behind which responses are the retry's.
-- ARGV: job id, token of this call (repeated when its reply was lost), '1' where answers that are none are asked, too,
-- else '', most waiting jobs of all and of the owner's, each or ''
local job, token, most, most_owned = ARGV[1], ARGV[2], tonumber(ARGV[4]), tonumber(ARGV[5])
local status, reopened_by, owner, ended_at = unpack(call('HMGET', key('job', job), 'status', 'reopened_by', 'owner',
  'finished_at'))
if status and reopened_by == token then return 'reopened' end
if status ~= 'completed' and status ~= 'cancelled' then return status or 'missing' end
if most and call('ZCARD', key('in_status', 'validating')) >= most then return 'waiting' end
if owner and most_owned and call('ZCARD', key('jobs_of', owner .. ':validating')) >= most_owned then return 'quota' end

local newest = call('XREVRANGE', key('results', job), '+', '-', 'COUNT', 1)[1]
call('HINCRBY', key('job', job), 'retries', 1)
call('HSET', key('job', job), 'reopened_by', token, 'ended', status, 'ended_at', ended_at, 'retry_empty', ARGV[3],
  'retry_after', newest and newest[1] or '0-0')
call('HDEL', key('job', job), 'finished_at', 'progressed', 'progressed_at', 'total_reserved', 'errors')
set_status(job, 'validating')
return 'reopened'
