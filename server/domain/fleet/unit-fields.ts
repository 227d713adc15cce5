import { type SQL, sql } from 'drizzle-orm';
import type { QueriedRows } from '#server/domain/fleet-field.ts';
import { healthCauses, vmHealths } from '#server/domain/verdicts/index.ts';
import { both, fleetField, oneOf } from './field.ts';

/* Fields about the worst unit of the VM, as the worker stored it. A VM has at most one row, so all fields match it. */

const ofUnit = { of: 'health', isSetByPeople: false } as const;

/** The condition that the worst unit `u` of the VM meets a condition. */
const hasUnit = (condition: SQL, { id }: QueriedRows) => [
  both(sql`${id} in (select u.vm_id from vm_concerns u where u.source = 'units' and ${condition})`),
];

const formula = fleetField({
  name: 'formula',
  parameter: 'formula',
  label: 'filter.formula',
  description: 'The formula of the VM’s least healthy unit, if the unit is not healthy.',
  ...ofUnit,
  value: { kind: 'text', min: 1, max: 300 },
  where: (value, rows) => hasUnit(sql`u.formula = ${value}`, rows),
});

const unitState = fleetField({
  name: 'unitState',
  parameter: 'unitState',
  label: 'filter.unitState',
  description: 'The health of the VM’s least healthy unit, if the unit is not healthy.',
  ...ofUnit,
  value: { kind: 'words', words: vmHealths },
  where: (value, rows) => hasUnit(oneOf(sql`u.health`, value), rows),
});

const unitCause = fleetField({
  name: 'unitCause',
  parameter: 'unitCause',
  label: 'filter.unitCause',
  description: 'The cause of the health of the VM’s least healthy unit.',
  ...ofUnit,
  value: { kind: 'words', words: healthCauses },
  where: (value, rows) => hasUnit(oneOf(sql`u.cause`, value), rows),
});

const hook = fleetField({
  name: 'hook',
  parameter: 'hook',
  label: 'filter.hook',
  description: 'The hook, or the missing relation, that is the cause of the health of the VM’s least healthy unit.',
  ...ofUnit,
  value: { kind: 'text', min: 1, max: 128 },
  where: (value, rows) => hasUnit(sql`u.command = ${value}`, rows),
});

const hookExitCode = fleetField({
  name: 'hookExitCode',
  parameter: 'hookExitCode',
  label: 'filter.hookExitCode',
  description: 'The exit code of the hook that failed.',
  ...ofUnit,
  value: { kind: 'number', min: -2_147_483_648, max: 2_147_483_647 },
  where: (value, rows) => hasUnit(sql`u.exit_code = ${value}`, rows),
});

/** The fields about the least healthy unit of a VM. */
export const unitFields = [formula, unitState, unitCause, hook, hookExitCode] as const;
