-- Atomic: bundles pass to the worker together with their payloads; dead and cancelled ones are acknowledged instead.
-- ARGV: worker, slots, lease in ms, highest number of attempts, '1' for the probation lane alone, then pairs of
-- lane, probation lane of the same model
-- Returns {more to look at, leases}.
local worker, slots, lease_ms = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local max_attempts, on_probation = tonumber(ARGV[4]), ARGV[5] == '1'
local steps, leases = 1000, {}

local function fields_of(entry)
  local fields = {}
  for i = 1, #entry[2], 2 do fields[entry[2][i]] = entry[2][i + 1] end
  return fields
end

local function offer(stream, entry, attempt)
  local f = fields_of(entry)
  local status = call('HGET', key('job', f.job), 'status')
  local remaining, model = bundle_state(f.job, f.bundle)
  if not status or FINAL[status] or not remaining then
    call('XACK', stream, GROUP, entry[1])
    return
  end
  if status == 'cancelling' then
    call('XACK', stream, GROUP, entry[1])
    drop_bundle(f.job, f.bundle, remaining, model)
    return
  end
  take_lease(f.job, f.bundle, model)
  local queued = tonumber(now()) / 1000 - tonumber(f.queued or string.match(entry[1], '^%d+'))
  leases[#leases + 1] = {stream, entry[1], attempt, math.floor(queued), f.crashes or 0,
    call('HGET', key('payloads', f.job), f.bundle), call('HGET', key('suspects', f.job), f.bundle) or ''}
end

-- The last attempt of a bundle is due: it leaves its lane for the probation lane, where nobody waits beside it.
local function to_probation(stream, probation, id, attempts)
  local entry = call('XRANGE', stream, id, id)[1]
  call('XACK', stream, GROUP, id)
  if not entry then return end
  local f = fields_of(entry)
  local remaining, model = bundle_state(f.job, f.bundle)
  if not remaining then return end
  end_lease(f.job, f.bundle, model)
  call('XADD', probation, '*', 'job', f.job, 'bundle', f.bundle, 'queued', string.match(id, '^%d+'), 'crashes', attempts)
end

local function reclaim(stream, probation)
  local expired = call('XPENDING', stream, GROUP, 'IDLE', lease_ms, '-', '+', slots - #leases)
  for _, p in ipairs(expired) do
    steps = steps - 1
    if not on_probation and p[4] >= math.max(1, max_attempts - 1) then
      to_probation(stream, probation, p[1], p[4])
    else
      local entry = call('XCLAIM', stream, GROUP, worker, lease_ms, p[1])[1]
      if entry then offer(stream, entry, p[4] + 1) end
    end
  end
  return #expired > 0
end

local function read_new(stream)
  local read = call('XREADGROUP', 'GROUP', GROUP, worker, 'COUNT', slots - #leases, 'STREAMS', stream, '>')
  if not read then return false end
  for _, entry in ipairs(read[1][2]) do
    steps = steps - 1
    offer(stream, entry, 1)
  end
  return true
end

for i = 6, #ARGV, 2 do
  local lane_key, probation = ARGV[i], ARGV[i + 1]
  local stream = on_probation and probation or lane_key
  while #leases < slots and steps > 0 and reclaim(stream, probation) do end
  while #leases < slots and steps > 0 and read_new(stream) do end
end
return {steps <= 0 and 1 or 0, leases}
