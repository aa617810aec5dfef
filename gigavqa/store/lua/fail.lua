-- Atomic: the job fails with its errors, and its bundles and reservation go.
-- ARGV: job id, errors JSON
local status = call('HGET', key('job', ARGV[1]), 'status')
if status and not FINAL[status] then
  call('HSET', key('job', ARGV[1]), 'errors', ARGV[2])
  finish(ARGV[1], 'failed')
end
return status
