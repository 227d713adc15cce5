import { sql } from 'drizzle-orm';
import { vmHealths } from '#server/domain/verdicts/index.ts';
import { both, fleetField, oneOf, timeSql } from './field.ts';

/* Fields about a change `c` of the VM's health. In one filter, the same change must match all of them. */

const ofChange = { of: 'change', isSetByPeople: false } as const;

const became = fleetField({
  name: 'became',
  parameter: 'became',
  label: 'filter.became',
  description: 'The VM’s health after a recorded change.',
  ...ofChange,
  value: { kind: 'words', words: vmHealths },
  where: (value) => [both(oneOf(sql`c."to"`, value))],
});

const left = fleetField({
  name: 'left',
  parameter: 'left',
  label: 'filter.left',
  description: 'The VM’s health before a recorded change.',
  ...ofChange,
  value: { kind: 'words', words: vmHealths },
  where: (value) => [both(oneOf(sql`c."from"`, value))],
});

const changedAfter = fleetField({
  name: 'changedAfter',
  parameter: 'changedAfter',
  label: 'filter.changedAfter',
  description: 'The VM’s health changed at this time or later.',
  ...ofChange,
  value: { kind: 'time' },
  where: (value) => [both(sql`c.at >= ${timeSql(value)}`)],
});

const changedBefore = fleetField({
  name: 'changedBefore',
  parameter: 'changedBefore',
  label: 'filter.changedBefore',
  description: 'The VM’s health changed before this time.',
  ...ofChange,
  value: { kind: 'time' },
  where: (value) => [both(sql`c.at < ${timeSql(value)}`)],
});

/** The fields about one change of a VM's health. */
export const changeFields = [became, left, changedAfter, changedBefore] as const;
