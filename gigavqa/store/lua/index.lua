-- Atomic: each job stands among those of its status, also one that was kept before there was such a list.
-- ARGV: job ids
for _, job in ipairs(ARGV) do
  local status = call('HGET', key('job', job), 'status')
  if status then index_job(job, status) end
end
