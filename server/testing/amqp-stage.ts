import { readFileSync } from 'node:fs';
import { type ChannelModel, type ConfirmChannel, connect, type GetMessage, type Options } from 'amqplib';
import { expect } from 'vitest';
import { Conductor } from '#server/conductor/conductor.ts';
import type { Context } from '#server/domain/context.ts';
import { registerVm } from '#server/domain/enrollment/index.ts';
import {
  bindChannel,
  type ConductorReport,
  type executionDetails,
  getConductor,
  getExecution,
  queueExecution,
} from '#server/domain/executions/index.ts';
import { testContext, testServices } from './context.ts';
import { startRabbitMq } from './rabbitmq.ts';
import type { TlsFiles } from './tls-authority.ts';

type Execution = ReturnType<(typeof executionDetails)['parse']>;
type RabbitMq = Awaited<ReturnType<typeof startRabbitMq>>;

/** How long a test waits for something to happen on a busy machine. */
export const patience = { timeout: 60_000, interval: 50 };

export const results = 'annex-execution-results';

/** A portal with a conductor, connected to a RabbitMQ server, and a client that acts as the agents. */
export interface AmqpStage {
  admin: Context;
  broker: RabbitMq;
  /**
   * Starts a conductor, which connects to `url` or, by default, to the broker's own address. Does not stop a conductor
   * that is already running; call `stopConductor` first.
   */
  startConductor(url?: string): void;
  stopConductor(): Promise<void>;
  /** Opens a channel to the broker, as an agent does. */
  channel(): Promise<ConfirmChannel>;
  /** Creates a VM that is bound to AMQP. Returns its id and its queue. */
  boundVm(dialect?: 'annex' | 'murano'): Promise<{ vmId: string; queue: string }>;
  queue(vmId: string, plan: Record<string, unknown>, terms?: object): Promise<Execution>;
  get(execution: Pick<Execution, 'vmId' | 'id'>): Promise<Execution>;
  /** Waits until the execution has this state. */
  until(execution: Pick<Execution, 'vmId' | 'id'>, state: Execution['state']): Promise<Execution>;
  conductor(): Promise<ConductorReport | null>;
  close(): Promise<void>;
}

/** Opens a stage. With `tls`, the broker accepts only TLS. */
export async function openAmqpStage({ tls }: { tls?: TlsFiles } = {}): Promise<AmqpStage> {
  const broker = await startRabbitMq(tls === undefined ? {} : { tls });
  const amqp = { urls: [broker.url], caFile: tls?.ca ?? null, results, queuePrefix: 'annex-' };
  const services = await testServices({ config: { amqp } });
  const admin = await testContext({ services, role: 'admin' });
  let running: { conductor: Conductor; ended: Promise<void> } | null = null;
  const clients: ChannelModel[] = [];
  let count = 0;
  const stage: AmqpStage = {
    admin,
    broker,
    startConductor(url = broker.url) {
      const config = { ...admin.config, amqp: { ...amqp, urls: [url] } };
      const conductor = new Conductor({ ...admin, config });
      running = { conductor, ended: conductor.run() };
    },
    async stopConductor() {
      running?.conductor.stop();
      await running?.ended;
      running = null;
    },
    async channel() {
      const client = await connect(broker.url, tls === undefined ? {} : { ca: [readFileSync(tls.ca)] });
      client.on('error', () => {});
      clients.push(client);
      const channel = await client.createConfirmChannel();
      channel.on('error', () => {});
      return channel;
    },
    async boundVm(dialect = 'annex') {
      count += 1;
      const { id: vmId } = await registerVm(admin, { name: `amqp-${count}` });
      const { inputQueue: queue } = await bindChannel({ ...admin, now: new Date() }, { vmId, dialect });
      return { vmId, queue };
    },
    async queue(vmId, plan, terms = {}) {
      const { execution } = await queueExecution({ ...admin, now: new Date() }, { vmId, plan, ...terms });
      return stage.get(execution);
    },
    get: ({ vmId, id }) => getExecution(admin, { vmId, executionId: id }),
    async until(execution, state) {
      await expect.poll(async () => (await stage.get(execution)).state, patience).toBe(state);
      return stage.get(execution);
    },
    conductor: () => getConductor({ ...admin, now: new Date() }),
    async close() {
      await stage.stopConductor();
      for (const client of clients) await client.close().catch(() => {});
      await broker.remove();
    },
  };
  return stage;
}

/** Waits until a queue exists and contains a message. Then takes the first message and acknowledges it. */
export async function takeMessage(stage: AmqpStage, queue: string): Promise<GetMessage> {
  let taken: GetMessage | false = false;
  let channel = await stage.channel();
  await expect
    .poll(async () => {
      try {
        taken = await channel.get(queue);
      } catch {
        // The broker closes the channel if the queue does not exist.
        channel = await stage.channel();
      }
      return taken !== false;
    }, patience)
    .toBe(true);
  if (taken === false) throw new Error('no message was taken');
  channel.ack(taken);
  return taken;
}

/** Publishes an answer to the queue of results: text and bytes unchanged, anything else as JSON. */
export async function answer(stage: AmqpStage, body: unknown, options: Options.Publish = {}): Promise<void> {
  const channel = await stage.channel();
  const content = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  channel.publish('', results, content, options);
  await channel.waitForConfirms();
}
