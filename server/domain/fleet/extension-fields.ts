import { type SQL, sql } from 'drizzle-orm';
import { versionKey } from '#protocol/version.ts';
import { extensionHealths, healthCauses } from '#server/domain/verdicts/index.ts';
import { both, fleetField, oneOf, timeSql, whether, yesOrNo } from './field.ts';

/* Fields about an extension `e` of the VM. In one filter, the same extension must match all of them. */

const ofExtension = { of: 'extension', isSetByPeople: false } as const;

/** SQL condition for the extensions `e` of the matching VMs. */
const amongMatching = ({ isWhole, id, table, where }: { isWhole: boolean; id: SQL; table: SQL; where: SQL }): SQL =>
  isWhole ? sql`true` : sql`e.vm_id in (select ${id} from ${table} where ${where})`;

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
    rows: (matching) => sql`
      select e.handler as name, e.goal_version as value, count(*)::int as n
      from extension_health e where ${amongMatching(matching)} group by 1, 2`,
  },
});

/** A version, or the beginning of one with an asterisk. */
const versionForm = String.raw`\d+(\.\d+){0,2}(\.\d+|\.\*)?`;

const version = fleetField({
  name: 'version',
  parameter: 'version',
  label: 'filter.version',
  description: 'The version in the goal state, or the beginning of one: `2.4.*`. Several are separated by commas.',
  // This is the version in the goal state, which an automatic upgrade could change too.
  ...ofExtension,
  value: { kind: 'text', max: 640, form: `^${versionForm}(,${versionForm})*$`, fault: 'version_filter_form' },
  where: (value) => [both(sql`(${sql.join(value.split(',').map(hasVersion), sql` or `)})`)],
});

/** The value has only digits and dots before the star, so it needs no escaping. */
const hasVersion = (value: string): SQL =>
  value.endsWith('*') ? sql`e.goal_version like ${`${value.slice(0, -1)}%`}` : sql`e.goal_version = ${value}`;

/** A number from 0 to 2147483647 without leading zeros. */
const versionPart = String.raw`(0|[1-9]\d{0,8}|1\d{9}|20\d{8}|21[0-3]\d{7}|214[0-6]\d{6}|2147[0-3]\d{5}|21474[0-7]\d{4}|214748[0-2]\d{3}|2147483[0-5]\d{2}|21474836[0-3]\d|214748364[0-7])`;

const olderThan = fleetField({
  name: 'olderThan',
  parameter: 'olderThan',
  label: 'filter.olderThan',
  description: 'The version in the goal state is lower than this one.',
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
    rows: (matching) => sql`
      select e.health as name, null::text as value, count(*)::int as n
      from extension_health e where ${amongMatching(matching)} group by 1`,
  },
});

const ranks = sql.raw(`array[${extensionHealths.map((health) => `'${health}'`).join(', ')}]`);

const worst = fleetField({
  name: 'worst',
  parameter: 'worst',
  label: 'filter.worst',
  description: 'Whether no extension of the same handler on the VM is in a worse state: `yes` or `no`.',
  ...ofExtension,
  value: { kind: 'words', words: yesOrNo },
  where: (value) =>
    whether(
      value,
      sql`(not exists (select from extension_health w where w.vm_id = e.vm_id and w.handler = e.handler
        and array_position(${ranks}, w.health) < array_position(${ranks}, e.health)))`,
    ),
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
    rows: (matching) => sql`
      select e.cause as name, null::text as value, count(*)::int as n
      from extension_health e where e.cause is not null and ${amongMatching(matching)} group by 1`,
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
    rows: (matching) => sql`
      select e.message_id as name, null::text as value, count(*)::int as n
      from extension_health e where e.message_id is not null and ${amongMatching(matching)} group by 1`,
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
  description: 'The extension has had its health since this time or a later one.',
  ...ofExtension,
  value: { kind: 'time' },
  where: (value) => [both(sql`e.since >= ${timeSql(value)}`)],
});

const stateBefore = fleetField({
  name: 'stateBefore',
  parameter: 'stateBefore',
  label: 'filter.stateBefore',
  description: 'The extension has had its health since a time before this one.',
  ...ofExtension,
  value: { kind: 'time' },
  where: (value) => [both(sql`e.since < ${timeSql(value)}`)],
});

/** The fields about one extension of a VM. */
export const extensionFields = [
  handler,
  version,
  olderThan,
  running,
  extension,
  state,
  worst,
  cause,
  command,
  exitCode,
  messageId,
  hasMessage,
  overdue,
  stateAfter,
  stateBefore,
] as const;
