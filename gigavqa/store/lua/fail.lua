-- Atomic: the job fails with its errors, and its bundles and reservation go. A retry of which nothing is queued leaves the
-- job as it had ended, and any other one leaves it cancelled: what it was answered stays.
-- ARGV: job id, errors JSON
local job = ARGV[1]
local status, ended, ended_at = unpack(call('HMGET', key('job', job), 'status', 'ended', 'ended_at'))
if not status or FINAL[status] then return status end
call('HSET', key('job', job), 'errors', ARGV[2])
if status ~= 'validating' or not ended then
  finish(job, 'failed')
elseif call('HLEN', key('bundles', job)) > 0 then
  finish(job, 'cancelled')
else
  release(job, number(job, 'reserved'))
  call('HSET', key('job', job), 'finished_at', ended_at)
  set_status(job, ended)
end
return status
