-- Atomic: the job is in progress once all its bundles are in, and completed if they were all recorded by then.
-- ARGV: job id
if call('HGET', key('job', ARGV[1]), 'status') == 'validating' then
  call('HSET', key('job', ARGV[1]), 'in_progress_at', now())
  set_status(ARGV[1], 'in_progress')
  finish_if_all_done(ARGV[1])
end
