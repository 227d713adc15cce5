import { type SQL, sql } from 'drizzle-orm';
import { versionKey } from '#protocol/version.ts';
import type { CountedRows } from '#server/domain/fleet-field.ts';
import { handlersOfSeveralSql } from '#server/domain/packages/index.ts';
import { extensionHealths, healthCauses } from '#server/domain/verdicts/index.ts';
import { both, fleetField, oneOf, timeSql, whether, yesOrNo } from './field.ts';

/* Fields about an extension `e` of the VM. In one filter, the same extension must match all of them. */

const ofExtension = { of: 'extension', isSetByPeople: false } as const;

/**
 * Counts the VMs by a value of their extensions. A VM counts once, even if several of its extensions have the same
 * value. If only one handler has the value and a VM can have only one extension of that handler, counting the
 * extensions is enough.
 */
const countedBy = (name: SQL, { extensions }: CountedRows, value: SQL = sql`null::text`): SQL => sql`
  with parts as (
    select ${name} as name, ${value} as value, e.handler, count(*)::int as n
    from extension_health e where ${extensions} group by 1, 2, 3
  ), counted as (
    select name, value,
      case when count(*) = 1 and not bool_or(handler in ${handlersOfSeveralSql}) then min(n) end as n
    from parts group by 1, 2
  )
  select name, value, coalesce(n, (
    select count(*)::int from (
      select distinct e.vm_id from extension_health e
      where ${extensions} and ${name} = counted.name and ${value} is not distinct from counted.value) each)) as n
  from counted`;

const among = (condition: SQL, { extensions, ...rows }: CountedRows): CountedRows => ({
  ...rows,
  extensions: sql`${condition} and ${extensions}`,
});

const handler = fleetField({
  name: 'handler',
  parameter: 'handler',
  label: 'filter.handler',
  isSetByPeople: true,
  value: { kind: 'text', min: 1, max: 300 },
  of: 'extension',
  where: (value) => [both(sql`e.handler = ${value}`)],
  facet: {
    find: 'filter.find.handler',
    // All extensions of one handler on a VM have the same version, so the counts by version add up to the count for the
    // handler.
    rows: (matching) => countedBy(sql`e.handler`, matching, sql`e.goal_version`),
  },
});

const handlerForm = String.raw`[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)+`;

/** SQL for the handlers in a comma-separated list. */
const handlersIn = (text: string): SQL =>
  sql`(${sql.join(
    text.split(',').map((one) => sql`${one}`),
    sql`, `,
  )})`;

const otherHandler = fleetField({
  name: 'otherHandler',
  parameter: 'otherHandler',
  label: 'filter.otherHandler',
  description: 'The VM has an extension of a handler that is not in this list. Handlers are separated by commas.',
  isSetByPeople: true,
  of: 'extension',
  value: { kind: 'text', max: 6_000, form: `^${handlerForm}(,${handlerForm})*$`, fault: 'handler_filter_form' },
  where: (value) => [both(sql`e.handler not in ${handlersIn(value)}`)],
});

const notHandler = fleetField({
  name: 'notHandler',
  parameter: 'notHandler',
  label: 'filter.notHandler',
  description: 'Excludes VMs that have an extension of this handler.',
  isSetByPeople: true,
  of: 'health',
  value: { kind: 'text', min: 1, max: 300 },
  where: (value, { id }) => [
    both(sql`not exists (select from extension_health x where x.vm_id = ${id} and x.handler = ${value})`),
  ],
});

/** A version, or the beginning of a version followed by an asterisk. */
const versionForm = String.raw`\d+(\.\d+){0,2}(\.\d+|\.\*)?`;

const version = fleetField({
  name: 'version',
  parameter: 'version',
  label: 'filter.version',
  description:
    'The version in the goal state, or the beginning of a version, for example `2.4.*`. Several versions are separated by commas.',
  // False, because automatic upgrades change the version in the goal state too.
  ...ofExtension,
  value: { kind: 'text', max: 4_000, form: `^${versionForm}(,${versionForm})*$`, fault: 'version_filter_form' },
  where: (value) => [both(sql`(${sql.join(value.split(',').map(hasVersion), sql` or `)})`)],
});

/** The value has only digits and dots before the asterisk, so it needs no escaping. */
const hasVersion = (value: string): SQL =>
  value.endsWith('*') ? sql`e.goal_version like ${`${value.slice(0, -1)}%`}` : sql`e.goal_version = ${value}`;

/** A number from 0 to 2147483647 without leading zeros. */
const versionPart = String.raw`(0|[1-9]\d{0,8}|1\d{9}|20\d{8}|21[0-3]\d{7}|214[0-6]\d{6}|2147[0-3]\d{5}|21474[0-7]\d{4}|214748[0-2]\d{3}|2147483[0-5]\d{2}|21474836[0-3]\d|214748364[0-7])`;

const olderThan = fleetField({
  name: 'olderThan',
  parameter: 'olderThan',
  label: 'filter.olderThan',
  description: 'The version in the goal state is lower than this version.',
  ...ofExtension,
  value: { kind: 'text', max: 43, form: `^${versionPart}(\\.${versionPart}){0,3}$`, fault: 'version_form' },
  // A goal state contains only registered versions, spelled as registered, and their keys sort like the versions.
  where: (value) => [
    both(sql`(e.handler, e.goal_version) in (
      select v.handler, v.version from handler_versions v where v.version_key collate "C" < ${versionKey(value)})`),
  ],
});

const running = fleetField({
  name: 'running',
  parameter: 'running',
  label: 'filter.running',
  description: 'The version that the agent last reported.',
  ...ofExtension,
  value: { kind: 'text', min: 1, max: 256 },
  where: (value) => [both(sql`e.version = ${value}`)],
});

const extension = fleetField({
  name: 'extension',
  parameter: 'extension',
  label: 'filter.extension',
  description: 'The name of the extension on the VM.',
  isSetByPeople: true,
  of: 'extension',
  value: { kind: 'text', min: 1, max: 256 },
  where: (value) => [both(sql`e.name = ${value}`)],
});

const state = fleetField({
  name: 'state',
  parameter: 'state',
  label: 'filter.state',
  description: 'The health of the extension.',
  ...ofExtension,
  value: { kind: 'words', words: extensionHealths },
  where: (value) => [both(oneOf(sql`e.health`, value))],
  facet: {
    find: 'filter.find.state',
    rows: (matching) => countedBy(sql`e.health`, matching),
  },
});

const ranks = sql.raw(`array[${extensionHealths.map((health) => `'${health}'`).join(', ')}]`);

const worst = fleetField({
  name: 'worst',
  parameter: 'worst',
  label: 'filter.worst',
  description:
    '`yes`: no extension of the same handler on the VM is less healthy. `no`: another extension is less healthy. With `otherHandler`, the selected handlers count as one handler.',
  ...ofExtension,
  value: { kind: 'words', words: yesOrNo },
  where: (value, { filter: { otherHandler } }) => {
    const compared =
      typeof otherHandler === 'string' && otherHandler !== ''
        ? sql`w.handler not in ${handlersIn(otherHandler)}`
        : sql`w.handler = e.handler`;
    return whether(
      value,
      sql`(not exists (select from extension_health w where w.vm_id = e.vm_id and ${compared}
        and array_position(${ranks}, w.health) < array_position(${ranks}, e.health)))`,
    );
  },
});

const cause = fleetField({
  name: 'cause',
  parameter: 'cause',
  label: 'filter.cause',
  description: 'The cause of the extension’s health.',
  ...ofExtension,
  value: { kind: 'words', words: healthCauses },
  where: (value) => [both(oneOf(sql`e.cause`, value))],
  facet: {
    find: 'filter.find.cause',
    rows: (matching) => countedBy(sql`e.cause`, among(sql`e.cause is not null`, matching)),
  },
});

const command = fleetField({
  name: 'command',
  parameter: 'command',
  label: 'filter.command',
  description: 'The failed command that is the cause of the extension’s health.',
  ...ofExtension,
  value: { kind: 'text', min: 1, max: 64 },
  where: (value) => [both(sql`e.command = ${value}`)],
});

const hasCommand = fleetField({
  name: 'hasCommand',
  parameter: 'hasCommand',
  label: 'filter.hasCommand',
  description: 'Whether it is known which command failed: `yes` or `no`.',
  ...ofExtension,
  value: { kind: 'words', words: yesOrNo },
  where: (value) => whether(value, sql`(e.command is not null)`),
});

const exitCode = fleetField({
  name: 'exitCode',
  parameter: 'exitCode',
  label: 'filter.exitCode',
  description: 'The exit code of the failed command.',
  ...ofExtension,
  value: { kind: 'number', min: -2_147_483_648, max: 2_147_483_647 },
  where: (value) => [both(sql`e.exit_code = ${value}`)],
});

const messageId = fleetField({
  name: 'messageId',
  parameter: 'messageId',
  label: 'filter.messageId',
  ...ofExtension,
  value: { kind: 'text', min: 1, max: 256 },
  where: (value) => [both(sql`e.message_id = ${value}`)],
  facet: {
    find: 'filter.find.messageId',
    rows: (matching) => countedBy(sql`e.message_id`, among(sql`e.message_id is not null`, matching)),
  },
});

const hasMessage = fleetField({
  name: 'hasMessage',
  parameter: 'hasMessage',
  label: 'filter.hasMessage',
  description: 'Whether the extension’s status has a message id: `yes` or `no`.',
  ...ofExtension,
  value: { kind: 'words', words: yesOrNo },
  where: (value) => whether(value, sql`(e.message_id is not null)`),
});

const overdue = fleetField({
  name: 'overdue',
  parameter: 'overdue',
  label: 'filter.overdue',
  description: 'Whether the extension missed its deadline: `yes` or `no`.',
  ...ofExtension,
  value: { kind: 'words', words: yesOrNo },
  where: (value, { now }) => {
    const time = timeSql(now.toISOString());
    return whether(value, sql`e.deadline_at <= ${time}`, sql`(e.deadline_at is null or e.deadline_at > ${time})`);
  },
});

const stateAfter = fleetField({
  name: 'stateAfter',
  parameter: 'stateAfter',
  label: 'filter.stateAfter',
  description: 'The extension got its current health at this time or later.',
  ...ofExtension,
  value: { kind: 'time' },
  where: (value) => [both(sql`e.since >= ${timeSql(value)}`)],
});

const stateBefore = fleetField({
  name: 'stateBefore',
  parameter: 'stateBefore',
  label: 'filter.stateBefore',
  description: 'The extension got its current health before this time.',
  ...ofExtension,
  value: { kind: 'time' },
  where: (value) => [both(sql`e.since < ${timeSql(value)}`)],
});

/** The fields about one extension of a VM, and `notHandler`, which is about all extensions of a VM. */
export const extensionFields = [
  handler,
  notHandler,
  otherHandler,
  version,
  olderThan,
  running,
  extension,
  state,
  worst,
  cause,
  command,
  hasCommand,
  exitCode,
  messageId,
  hasMessage,
  overdue,
  stateAfter,
  stateBefore,
] as const;
