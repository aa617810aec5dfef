-- Reads only: bundles that a claim could lease now, by model. Leases that ran out count although their worker has not
-- given them up; bundles of cancelled jobs do not. What waits on the interactive lane is counted up to a bound.
-- ARGV: lease in ms, bound, then for each model: id, interactive lane, its other lanes ..., ''
-- Returns {bundles, interactive bundles} for each model.
local lease_ms, bound = ARGV[1], tonumber(ARGV[2])

local function is_live(entry)
  local f = fields_of(entry)
  local status = call('HGET', key('job', f.job), 'status')
  return status and not FINAL[status] and status ~= 'cancelling' and entry_state(f) ~= nil, f.job, f.bundle
end

-- Entries whose worker is silent, and those that were handed back; `leased` of them still count as somebody's.
local function given_up(lane)
  local live, leased = 0, 0
  for _, p in ipairs(call('XPENDING', lane, GROUP, 'IDLE', lease_ms, '-', '+', bound)) do
    local entry = call('XRANGE', lane, p[1], p[1])[1]
    if entry then
      local alive, job, bundle = is_live(entry)
      if alive then
        live = live + 1
        leased = leased + call('SISMEMBER', key('leased', job), bundle)
      end
    end
  end
  return live, leased
end

local function unread(lane)
  local read, live = '0-0', 0
  local group = call('XINFO', 'GROUPS', lane)[1]
  for i = 1, #group, 2 do
    if group[i] == 'last-delivered-id' then read = group[i + 1] end
  end
  for _, entry in ipairs(call('XRANGE', lane, '(' .. read, '+', 'COUNT', bound)) do
    if is_live(entry) then live = live + 1 end
  end
  return live
end

local counts, i = {}, 3
while i <= #ARGV do
  local model, interactive = ARGV[i], ARGV[i + 1]
  local bundles, urgent = tonumber(call('HGET', key('depth'), 'waiting:' .. model) or 0), 0
  i = i + 1
  while ARGV[i] ~= '' do
    local live, leased = given_up(ARGV[i])
    bundles = bundles + leased
    if ARGV[i] == interactive then urgent = live + unread(interactive) end
    i = i + 1
  end
  counts[#counts + 1] = {bundles, urgent}
  i = i + 1
end
return counts
