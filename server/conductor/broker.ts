import { readFile } from 'node:fs/promises';
import { type ChannelModel, type ConfirmChannel, type ConsumeMessage, connect } from 'amqplib';
import type { ConductorFault } from '#server/domain/executions/index.ts';
import type { OutgoingMessage } from './dialect.ts';

/** Seconds between heartbeats of the connection. A broker that is silent for twice as long counts as lost. */
const heartbeatSeconds = 15;
/** Maximum time for connecting, including the TLS handshake and the sign-in. */
const connectMs = 15_000;
/** Number of answers that the broker sends before the first is acknowledged. */
const prefetch = 50;

/** An error of the broker, with the message that explains it to people. */
export class BrokerError extends Error {
  override readonly name = 'BrokerError';
  readonly fault: ConductorFault;

  constructor(fault: ConductorFault, detail: string) {
    super(detail);
    this.fault = fault;
  }
}

export interface BrokerOptions {
  url: string;
  caFile: string | null;
  /** Queue for the agents' answers. */
  results: string;
  /** Called with each answer. The function acknowledges the answer once it is stored. */
  onAnswer(message: ConsumeMessage): void;
  /** Called once, when the connection is lost. */
  onLost(error: BrokerError): void;
}

/** A connection to the broker. */
export interface Broker {
  /**
   * Publishes a message and resolves when the broker has confirmed it. Resolves `returned` if the message's queue does
   * not exist.
   */
  publish(message: OutgoingMessage): Promise<'confirmed' | 'returned'>;
  /** Declares the queue of an agent, unless it exists. */
  declare(queue: string): Promise<void>;
  acknowledge(message: ConsumeMessage): void;
  /** Closes the channels, and then the connection; otherwise, acknowledgements would be lost. */
  close(): Promise<void>;
}

/**
 * Connects to the broker, declares the queue of answers and begins to read it. Throws BrokerError. There is no way to
 * accept a certificate that cannot be verified (MU-65).
 */
export async function openBroker(options: BrokerOptions): Promise<Broker> {
  const { url, caFile, results } = options;
  try {
    const ca = caFile === null ? {} : { ca: [await readFile(caFile)] };
    const connection = await connect(withHeartbeat(url), { timeout: connectMs, keepAlive: true, ...ca });
    try {
      return await setUp(connection, options);
    } catch (error) {
      connection.on('error', () => {});
      await connection.close().catch(() => {});
      throw error;
    }
  } catch (error) {
    throw brokerErrorOf(error, results);
  }
}

async function setUp(connection: ChannelModel, options: BrokerOptions): Promise<Broker> {
  const { results, onAnswer, onLost } = options;
  let lost: Error | null = null;
  let isClosing = false;
  connection.on('error', (error: Error) => {
    lost = error;
  });
  connection.on('close', (error?: Error) => {
    if (!isClosing) onLost(brokerErrorOf(lost ?? error ?? new Error('The broker closed the connection.'), results));
  });
  const channel = await connection.createConfirmChannel();
  // An error of a channel closes only the channel. Nothing works without the channel, so the connection is opened
  // again.
  const fail = (error: Error): void => {
    lost ??= error;
    void connection.close().catch(() => {});
  };
  channel.on('error', fail);
  const returned = new Set<string>();
  channel.on('return', ({ properties }) => returned.add(String(properties.messageId)));
  await channel.assertQueue(results, { durable: true });
  await channel.prefetch(prefetch);
  await readAnswers(channel, results, onAnswer, fail);
  return {
    publish: async (message) => {
      const id = String(message.options.messageId);
      returned.delete(id);
      await confirmed(channel, message);
      return returned.delete(id) ? 'returned' : 'confirmed';
    },
    declare: (queue) => declare(connection, queue),
    acknowledge: (message) => channel.ack(message),
    async close() {
      isClosing = true;
      await channel.close().catch(() => {});
      await connection.close().catch(() => {});
    },
  };
}

/** Reads the queue of answers. If someone deletes it, declares it again, so that no answer is lost (MU-63). */
async function readAnswers(
  channel: ConfirmChannel,
  results: string,
  onAnswer: (message: ConsumeMessage) => void,
  onError: (error: Error) => void,
): Promise<void> {
  await channel.consume(results, (message) => {
    if (message !== null) return onAnswer(message);
    void (async () => {
      await channel.assertQueue(results, { durable: true });
      await readAnswers(channel, results, onAnswer, onError);
    })().catch(onError);
  });
}

const confirmed = (channel: ConfirmChannel, { routingKey, content, options }: OutgoingMessage): Promise<void> =>
  new Promise((resolve, reject) => {
    channel.publish('', routingKey, content, options, (error: unknown) =>
      error === null ? resolve() : reject(error instanceof Error ? error : new Error('The broker rejected a plan.')),
    );
  });

/**
 * Declares a queue on a separate channel. The broker closes the channel if the queue exists with other arguments; the
 * queue can be used nevertheless.
 */
async function declare(connection: ChannelModel, queue: string): Promise<void> {
  const channel = await connection.createChannel();
  channel.on('error', () => {});
  try {
    await channel.assertQueue(queue, { durable: true });
    await channel.close();
  } catch (error) {
    if ((error as { code?: unknown }).code !== preconditionFailed) throw error;
  }
}

const preconditionFailed = 406;

function withHeartbeat(url: string): string {
  const given = new URL(url);
  if (!given.searchParams.has('heartbeat')) given.searchParams.set('heartbeat', String(heartbeatSeconds));
  return given.href;
}

/** Returns the error of the network or the broker as a BrokerError. Its text never contains the URL's password. */
export function brokerErrorOf(error: unknown, results: string): BrokerError {
  if (error instanceof BrokerError) return error;
  const { message, code } = error as { message: string; code?: string | number };
  const isAboutResults = code === preconditionFailed && message.includes(`'${results}'`);
  if (isAboutResults) return new BrokerError('conductor.results', message);
  if (/ACCESS.REFUSED|authentication|403/i.test(message)) return new BrokerError('conductor.login', message);
  if (typeof code === 'string' && /CERT|SELF_SIGNED|VERIFY|ALTNAME|^ERR_(TLS|SSL|OSSL)/.test(code))
    return new BrokerError('conductor.certificate', message);
  if (/ETIMEDOUT/.test(message) || (typeof code === 'string' && /^E[A-Z_]+$/.test(code)))
    return new BrokerError('conductor.unreachable', message);
  return new BrokerError('conductor.other', message);
}
