import { bigint, foreignKey, integer, pgTable, primaryKey, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import { executions } from './executions.ts';
import { vms } from './vms.ts';

const time = (name: string) => timestamp(name, { withTimezone: true });

/** The VMs whose executions are sent over AMQP. Executions of all other VMs are fetched over HTTPS. */
export const executionChannels = pgTable('execution_channels', {
  vmId: uuid('vm_id')
    .primaryKey()
    .references(() => vms.id),
  /** The queue from which the VM's agent takes plans. */
  inputQueue: text('input_queue').notNull().unique('execution_channels_input_queue'),
  /** The kind of the VM's agent: Annex's own agent, or the Murano agent. */
  dialect: text().$type<'annex' | 'murano'>().notNull(),
  boundAt: time('bound_at').notNull(),
  boundBy: text('bound_by').notNull(),
});

/** The IDs of the log messages that an agent sent one by one, so that a repeated message is not stored again. */
export const executionMessages = pgTable(
  'execution_messages',
  {
    vmId: uuid('vm_id').notNull(),
    executionId: uuid('execution_id').notNull(),
    messageId: text('message_id').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.vmId, t.executionId, t.messageId] }),
    foreignKey({
      columns: [t.vmId, t.executionId],
      foreignColumns: [executions.vmId, executions.id],
      name: 'execution_messages_execution',
    }).onDelete('cascade'),
  ],
);

/** The state of the connection to the AMQP broker, in one row that the conductor writes. */
export const conductorState = pgTable('conductor_state', {
  id: integer().primaryKey(),
  /** When the conductor last wrote this row. */
  seenAt: time('seen_at').notNull(),
  /** When the conductor connected to the broker; null while it is not connected. */
  connectedAt: time('connected_at'),
  /** Why the conductor cannot work; null if it can. A key of `locales/<lng>/executions.json`. */
  fault: text(),
  /** The error message of the broker or the network. */
  faultDetail: text('fault_detail'),
  faultSince: time('fault_since'),
  /** Number of messages that could not be read, and of messages that belong to no execution. */
  unreadable: bigint({ mode: 'number' }).notNull().default(0),
  unmatched: bigint({ mode: 'number' }).notNull().default(0),
  /** When the last of these messages arrived. */
  rejectedAt: time('rejected_at'),
});
