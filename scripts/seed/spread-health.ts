import type pg from 'pg';
import { variants } from './cases.ts';
import { extensionSince, vmSince } from './past.ts';

/** The range of hours after which a VM without deadlines is evaluated again, as after a regular evaluation. */
const restHours = { from: 12, to: 36 };

/**
 * Groups the seeded VMs by everything that affects their health, and schedules the evaluation of one sample VM per
 * group. Leaves the temporary table `seed_sorts` with each VM's group and sample.
 */
export async function markSamples(client: pg.ClientBase): Promise<void> {
  await client.query(
    `create temporary table seed_sorts as
     select *, first_value(vm_id) over (partition by sort order by vm_id) as sample from (
       select v.id as vm_id, v.scenario || ' ' || v.n % ${variants} || ' ' || string_agg(e.version, ' ' order by e.name) as sort
         from seed_vms v join seed_extensions e on e.vm_id = v.id group by v.id, v.scenario, v.n
     ) s`,
  );
  await client.query('analyze seed_sorts');
  await client.query(
    `insert into health_checks (vm_id, due_at) select distinct sample, 'epoch'::timestamptz from seed_sorts order by 1
     on conflict do nothing`,
  );
}

/**
 * Copies the health of each sample to the other VMs of its group, unless the sample has a pending deadline. This covers
 * nearly all VMs. Groups whose sample has a pending deadline are evaluated VM by VM.
 */
export async function spreadHealth(client: pg.ClientBase, now: Date): Promise<void> {
  const at = now.toISOString();
  await client.query(
    `create temporary table seed_rests as
     select s.vm_id, s.sample from seed_sorts s
       join vm_health h on h.vm_id = s.sample join health_checks c on c.vm_id = s.sample
      where s.vm_id <> s.sample and h.deadline_at is null
        and c.due_at > $1::timestamptz + interval '${restHours.from} hours' - interval '5 minutes'
        and not exists (select from extension_health e where e.vm_id = s.sample and e.deadline_at is not null)`,
    [at],
  );
  await client.query('analyze seed_rests');
  await client.query(
    `insert into vm_health (vm_id, name, tags, health, rank, agent, since)
     select v.id, v.name, v.tags, h.health, h.rank, h.agent, ${vmSince}
       from seed_rests r join seed_vms v on v.id = r.vm_id join vm_health h on h.vm_id = r.sample
       left join agent_presence p on p.vm_id = v.id
      order by v.id on conflict do nothing`,
    [at],
  );
  await client.query(
    `insert into extension_health (vm_id, name, handler, goal_version, version, sequence_number, health,
       heartbeat, cause, command, exit_code, message_id, waits_for, since, problem, problem_since)
     select e.vm_id, e.name, e.handler, e.version, h.version, h.sequence_number, h.health, h.heartbeat, h.cause,
       h.command, h.exit_code, h.message_id, h.waits_for, ${extensionSince}, h.problem,
       case when h.problem is not null then ${extensionSince} end
       from seed_rests r join seed_vms v on v.id = r.vm_id join seed_extensions e on e.vm_id = r.vm_id
       join extension_health h on h.vm_id = r.sample and h.name = e.name left join agent_presence p on p.vm_id = v.id
      order by e.vm_id, e.name on conflict do nothing`,
    [at],
  );
  await client.query(
    `insert into health_checks (vm_id, due_at)
     select s.vm_id, case when r.vm_id is null then 'epoch' else
         $1::timestamptz + interval '1 hour' * (${restHours.from} + random() * ${restHours.to - restHours.from}) end
       from seed_sorts s left join seed_rests r on r.vm_id = s.vm_id
      where s.vm_id <> s.sample order by s.vm_id on conflict do nothing`,
    [at],
  );
}
