import { type SQL, sql } from 'drizzle-orm';
import { fleetField } from '#server/domain/fleet/index.ts';
import { rankOf } from '#server/domain/verdicts/index.ts';
import { silences } from './problem.ts';

/** Maximum seconds from when one agent of a cluster became unresponsive to when the next agent did. */
const togetherSeconds = 60;
/** Minimum number of agents in a cluster. */
const fewest = 3;

/**
 * SQL for the unresponsive VMs, with the columns `vm_id`, `since` and `cluster`. `cluster` is the number of the VM's
 * cluster; null for a VM outside all clusters.
 */
export const silentClusters: SQL = sql`(
  select vm_id, since, case when count(*) over (partition by place) >= ${fewest}::int then place end as cluster
  from (
    select vm_id, since, count(*) filter (where begins) over (order by since, vm_id) as place
    from (
      select vm_id, since,
        since - lag(since) over (order by since, vm_id) > ${togetherSeconds}::int * interval '1 second' as begins
      from vm_health where rank = ${rankOf('unresponsive')}::smallint
    ) ordered
  ) placed
) silent`;

/** A filter field for VMs whose agents became unresponsive alone, or together with other agents. */
export const silenceField = fleetField({
  name: 'silence',
  parameter: 'silence',
  label: 'filter.silence',
  description:
    'Whether the agent became unresponsive `together` with at least two other agents (within a minute), or `alone`.',
  isSetByPeople: false,
  value: { kind: 'words', words: silences },
  of: 'health',
  healths: () => ['unresponsive'],
  where(value) {
    if (value.length === silences.length) return [];
    const isTogether = value.includes('together');
    const condition = sql`h.vm_id in (select vm_id from ${silentClusters}
      where cluster is ${sql.raw(isTogether ? 'not null' : 'null')})`;
    return [{ set: condition, row: condition }];
  },
});
