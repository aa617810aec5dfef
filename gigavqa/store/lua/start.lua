-- Atomic: the job is in progress once all its bundles are in, and completed if they were all recorded by then. It stays
-- `validating` where some are not: a server that lost power came back without what it had been told last.
-- ARGV: job id, number of its bundles, warnings JSON
local job, told = ARGV[1], tonumber(ARGV[2])
if call('HGET', key('job', job), 'status') ~= 'validating' then return end
local has_room = call('HEXISTS', key('job', job), 'total_reserved') == 1
if not has_room or call('HLEN', key('bundles', job)) < told then return end
call('HSETNX', key('job', job), 'in_progress_at', now())
call('HSET', key('job', job), 'warnings', ARGV[3] or '[]')
set_status(job, 'in_progress')
finish_if_all_done(job)
