-- Atomic: entries that no worker holds or will read leave the lane; leases that ran out on ended jobs are
-- dropped; all leases begin anew where the clock stepped back; workers that hold nothing and were silent for 120
-- leases are forgotten.
-- ARGV: lane, lease in ms
local stream, lease_ms = ARGV[1], ARGV[2]

-- A clock that stepped back would keep the leases of dead workers for as long as the step: they begin anew.
local seen, at = tonumber(call('HGET', key('clock'), stream) or 0), tonumber(now())
if at < seen then
  for _, p in ipairs(call('XPENDING', stream, GROUP, '-', '+', 100000)) do
    call('XCLAIM', stream, GROUP, p[2], 0, p[1], 'IDLE', 0, 'JUSTID')
  end
end
for _, p in ipairs(call('XPENDING', stream, GROUP, 'IDLE', lease_ms, '-', '+', 1000)) do
  local entry = call('XRANGE', stream, p[1], p[1])[1]
  local f = fields_of(entry)
  local job, bundle = f.job, f.bundle
  local status = call('HGET', key('job', job), 'status')
  local remaining, model = entry_state(f)
  if not remaining or status == 'cancelling' then
    call('XACK', stream, GROUP, p[1])
    if remaining then drop_bundle(job, bundle, remaining, model) end
  end
end
for _, consumer in ipairs(call('XINFO', 'CONSUMERS', stream, GROUP)) do
  local info = {}
  for i = 1, #consumer, 2 do info[consumer[i]] = consumer[i + 1] end
  if info.pending == 0 and info.idle > 120 * lease_ms then call('XGROUP', 'DELCONSUMER', stream, GROUP, info.name) end
end
-- What was read and acknowledged goes. XDEL would leave the group's lag unknown.
local oldest, read = call('XPENDING', stream, GROUP)[2], '0-0'
local group = call('XINFO', 'GROUPS', stream)[1]
for i = 1, #group, 2 do
  if group[i] == 'last-delivered-id' then read = group[i + 1] end
end
local trimmed = call('XTRIM', stream, 'MINID', oldest or read)
redis.pcall('HSET', key('clock'), stream, now()) -- last: a server whose memory is full takes what frees some, and not this
return trimmed
