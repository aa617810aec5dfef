-- Atomic: from here on no bundle of the job is leased.
-- ARGV: job id
local status = call('HGET', key('job', ARGV[1]), 'status')
if status and not FINAL[status] and status ~= 'cancelling' then
  set_status(ARGV[1], 'cancelling')
end
if status and not FINAL[status] then finish_if_all_done(ARGV[1]) end
return status
