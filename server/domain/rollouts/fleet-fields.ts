import { type SQL, sql } from 'drizzle-orm';
import { fleetField } from '#server/domain/fleet/index.ts';
import { type MemberCount, memberCounts, openStates } from '#server/domain/rollout-rules/words.ts';
import { stepFilter } from './input.ts';
import { statesOf } from './shown-state.ts';

const uuid = '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$';

/** VMs that are members of a rollout and, with the field `step`, whose step has one of these states. */
export const rolloutField = fleetField({
  name: 'rollout',
  parameter: 'rollout',
  label: 'filter.rollout',
  description: 'The id of a rollout, for its members. With `step`, only members in these states.',
  isSetByPeople: false,
  value: { kind: 'text', min: 1, max: 36, form: uuid, fault: 'field_format' },
  of: 'vm',
  where(value, { id, filter }) {
    const states = (filter.step ?? []) as MemberCount[];
    const condition = sql`${id} in (${membersOf(sql`${value}::uuid`, states)})`;
    return [{ set: condition, row: condition }];
  },
});

/** SQL for the members of a rollout whose steps have one of these states; all members without states. */
function membersOf(rollout: SQL, states: readonly MemberCount[]): SQL {
  const members = sql`select unnest(m.vm_ids) from rollout_members m where m.rollout_id = ${rollout}`;
  if (states.length === 0 || states.length === memberCounts.length) return members;
  const reached = sql`select s.vm_id from rollout_steps s where s.rollout_id = ${rollout} and ${inStates(states)}`;
  if (!states.includes('queued')) return reached;
  return sql`(${members} except select s.vm_id from rollout_steps s where s.rollout_id = ${rollout}) union all ${reached}`;
}

const inStates = (states: readonly MemberCount[]): SQL =>
  sql`s.state = any(${sql.param(states.flatMap(statesOf))}::text[])`;

/** VMs with a step in one of these states: in the rollout of the field `rollout`, otherwise in any open rollout. */
export const stepField = fleetField({
  name: 'step',
  parameter: 'step',
  label: 'filter.step',
  description:
    'States of the VM’s step in the rollout of the parameter `rollout`; without that parameter, in any open rollout.',
  isSetByPeople: false,
  value: { kind: 'words', words: stepFilter },
  of: 'vm',
  where(value, { id, filter }) {
    if (filter.rollout !== undefined && filter.rollout !== '') return [];
    const open = sql`select r.id from rollouts r where r.state = any(${sql.param([...openStates])}::text[])`;
    const condition = sql`${id} in (
      select s.vm_id from rollout_steps s where s.rollout_id in (${open}) and ${inStates(value as MemberCount[])})`;
    return [{ set: condition, row: condition }];
  },
});
