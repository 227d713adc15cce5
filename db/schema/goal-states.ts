import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  customType,
  index,
  integer,
  json,
  jsonb,
  pgTable,
  primaryKey,
  text,
  timestamp,
  uuid,
} from 'drizzle-orm/pg-core';
import type { CommandName } from '#protocol/manifest.ts';
import { vms } from './vms.ts';

const bytea = customType<{ data: Buffer }>({ dataType: () => 'bytea' });

/** Timeout of each command in seconds. */
export interface CommandTimeouts {
  install: number;
  update: number;
  enable: number;
  disable: number;
  uninstall: number;
}

export type ExtensionGoal = 'enabled' | 'disabled' | 'uninstall';

/** An operator's declaration of one extension. The history stores it, and a revert restores it. */
export interface ExtensionContents {
  name: string;
  handler: string;
  requestedVersion: string;
  version: string;
  state: ExtensionGoal;
  autoUpgradeMinorVersion: boolean;
  dependsOn: string[];
  timeouts: CommandTimeouts;
  publicSettings: Record<string, unknown>;
  /** Id of the row in `secrets`; null if there are no protected settings. */
  secretId: string | null;
  sequenceNumber: number;
}

/** The declared extensions of each VM. */
export const extensions = pgTable(
  'extensions',
  {
    vmId: uuid('vm_id')
      .notNull()
      .references(() => vms.id),
    name: text().notNull(),
    handler: text().notNull(),
    requestedVersion: text('requested_version').notNull(),
    version: text().notNull(),
    state: text().$type<ExtensionGoal>().notNull(),
    autoUpgradeMinorVersion: boolean('auto_upgrade_minor_version').notNull(),
    dependsOn: text('depends_on').array().notNull(),
    timeouts: json().$type<CommandTimeouts>().notNull(),
    publicSettings: json('public_settings').$type<Record<string, unknown>>().notNull(),
    secretId: uuid('secret_id'),
    sequenceNumber: bigint('sequence_number', { mode: 'number' }).notNull(),
    /**
     * Commands that the agent may run for this sequence number. Null in older rows; their commands are derived from the
     * goal.
     */
    commands: text().array().$type<CommandName[]>(),
    /** When this sequence number was published. */
    changedAt: timestamp('changed_at', { withTimezone: true }).notNull(),
    changedBy: text('changed_by').notNull(),
    /** When this sequence number was first delivered to the agent. */
    deliveredAt: timestamp('delivered_at', { withTimezone: true }),
    /**
     * Whether any sequence number of this extension was ever delivered. If not, the extension is removed without an
     * uninstall.
     */
    everDelivered: boolean('ever_delivered').notNull().default(false),
  },
  (t) => [
    primaryKey({ columns: [t.vmId, t.name] }),
    index('extensions_version').on(t.handler, t.version),
    // The worker looks once a minute for extensions that are upgraded automatically.
    index('extensions_automatic').on(t.handler, t.version).where(sql`${t.autoUpgradeMinorVersion}`),
  ],
);

/**
 * The highest sequence number that was ever used or reported for an extension's name. Kept after the extension is
 * removed.
 */
export const extensionSequences = pgTable(
  'extension_sequences',
  {
    vmId: uuid('vm_id')
      .notNull()
      .references(() => vms.id),
    name: text().notNull(),
    highest: bigint({ mode: 'number' }).notNull(),
  },
  (t) => [primaryKey({ columns: [t.vmId, t.name] })],
);

/** When and by whom one protected setting was last entered. */
export interface SettingEntry {
  at: string;
  /** The actor's display name. */
  by: string;
  /** The actor who last entered this setting, as in `set_by`; null if unknown. */
  setBy: string | null;
}

/**
 * Protected settings, encrypted with the portal's key, for the VM's certificate, or both; never in plain text (AZ-C2).
 */
export const secrets = pgTable(
  'secrets',
  {
    vmId: uuid('vm_id')
      .notNull()
      .references(() => vms.id),
    id: uuid().notNull(),
    name: text().notNull(),
    /**
     * The settings, encrypted with AES-256-GCM and the portal's key; with ANNEX_CUSTODY=vm, null once the settings are
     * encrypted for a certificate.
     */
    sealed: bytea(),
    /**
     * The settings as CMS EnvelopedData (DER), encrypted for the VM's certificate; null before enrollment, and while
     * the settings are withheld from the certificate.
     */
    cms: bytea(),
    thumbprint: text(),
    /** A keyed and salted digest, so it shows only whether the settings changed. */
    fingerprint: text().notNull(),
    /** Digest of the protected half of the schema with which the settings were checked; null if there was no schema. */
    schemaDigest: text('schema_digest'),
    changedAt: timestamp('changed_at', { withTimezone: true }).notNull(),
    changedBy: text('changed_by').notNull(),
    /**
     * The actor who entered the settings, as `kind:id`. Null if the actor is unknown or if there was more than one;
     * only an admin can then release the settings.
     */
    setBy: text('set_by'),
    /**
     * Who entered each top-level setting. The keys are keyed digests of the settings' names, because people can choose
     * these names, and a name can be confidential. Null in older rows, if the settings are not an object, and if
     * there are very many of them; in these cases, the row's columns apply to all settings.
     */
    entries: json().$type<Record<string, SettingEntry>>(),
  },
  (t) => [primaryKey({ columns: [t.vmId, t.id] })],
);

/**
 * The current goal state, one row per VM. The row's lock serializes all writers. Unless the VM is held, a poll reads
 * the goal state from this row alone.
 */
export const goalStateHeads = pgTable(
  'goal_state_heads',
  {
    vmId: uuid('vm_id')
      .primaryKey()
      .references(() => vms.id),
    incarnation: integer().notNull(),
    etag: text().notNull(),
    /** The text that the agent receives. */
    text: text().notNull(),
    publishedAt: timestamp('published_at', { withTimezone: true }).notNull(),
    /** PEM of the certificate for which protected settings are encrypted; null before enrollment. */
    certificate: text(),
    thumbprint: text(),
    deliveredIncarnation: integer('delivered_incarnation').notNull().default(0),
    /**
     * The turn of the current goal state: its place in the order of the VM's work. 0 if an earlier release published
     * it.
     */
    turn: bigint({ mode: 'number' }).notNull().default(0),
    /** The last turn of work other than a goal state, such as an execution; 0 if there was none. */
    otherTurn: bigint('other_turn', { mode: 'number' }).notNull().default(0),
    deliveredAt: timestamp('delivered_at', { withTimezone: true }),
    /** The goal state that a reference agent keeps while the VM is held; null if there is no hold. */
    heldIncarnation: integer('held_incarnation'),
    heldEtag: text('held_etag'),
  },
  (t) => [index('goal_state_heads_published').on(t.publishedAt)],
);

/** Every goal state that is or was current. */
export const goalStates = pgTable(
  'goal_states',
  {
    vmId: uuid('vm_id')
      .notNull()
      .references(() => vms.id),
    incarnation: integer().notNull(),
    etag: text().notNull(),
    text: text().notNull(),
    contents: json().$type<ExtensionContents[]>().notNull(),
    /**
     * The action that caused the goal state, such as `extension.set` or `goal-state.revert`. For actions on an
     * extension or an earlier goal state, includes the extension's name or the incarnation; for
     * actions of a rollout, its id.
     */
    cause: jsonb().$type<{ action: string; extension?: string; incarnation?: number; rollout?: string }>().notNull(),
    publishedAt: timestamp('published_at', { withTimezone: true }).notNull(),
    publishedBy: text('published_by').notNull(),
  },
  (t) => [primaryKey({ columns: [t.vmId, t.incarnation] })],
);
