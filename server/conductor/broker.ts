import type { EventEmitter } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type ChannelModel, type ConfirmChannel, type ConsumeMessage, connect } from 'amqplib';
import type { ConductorFault } from '#server/domain/executions/index.ts';
import type { OutgoingMessage } from './dialect.ts';

/** Seconds between heartbeats of the connection. A broker that is silent for twice as long counts as lost. */
const heartbeatSeconds = 15;
/** Maximum time without a packet while connecting, during the TLS handshake and the sign-in. */
const connectMs = 15_000;
/** Maximum number of answers that the broker sends without waiting for an acknowledgement. */
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
   * Publishes a message and resolves when the broker has confirmed it. Resolves to `returned` if the message's queue
   * does not exist.
   */
  publish(message: OutgoingMessage): Promise<'confirmed' | 'returned'>;
  /** Declares the queue of an agent, unless it exists. */
  declare(queue: string): Promise<void>;
  acknowledge(message: ConsumeMessage): void;
  /** Closes the channels, and then the connection; otherwise, acknowledgements would be lost. */
  close(): Promise<void>;
}

/**
 * Connects to the broker, declares the queue for answers and starts to read it. Throws BrokerError. There is no way to
 * accept a certificate that cannot be verified (MU-65).
 */
export async function openBroker(options: BrokerOptions): Promise<Broker> {
  const { url, caFile, results } = options;
  try {
    const ca = caFile === null ? {} : { ca: [await readAuthorities(caFile)] };
    // Without `rejectUnauthorized`, the environment variable NODE_TLS_REJECT_UNAUTHORIZED could turn verification off.
    const verified = { rejectUnauthorized: true, ...ca };
    const timeout = timeoutOf(url);
    const connection = await connect(withHeartbeat(url), { timeout, keepAlive: true, ...verified });
    try {
      return await setUp(connection, options);
    } catch (error) {
      connection.on('error', () => {});
      await closed(connection);
      throw error;
    }
  } catch (error) {
    throw brokerErrorOf(error, results);
  }
}

async function readAuthorities(file: string): Promise<Buffer> {
  const bytes = await readFile(file).catch((error: Error) => {
    throw new BrokerError('conductor.authority-file', error.message);
  });
  // Node ignores a file without certificates, and would then trust no authority.
  if (bytes.includes('-----BEGIN CERTIFICATE-----')) return bytes;
  throw new BrokerError('conductor.authority-file', `${file} contains no certificate`);
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
  // A channel error closes only the channel. Nothing works without it, so the connection is closed too, and the
  // conductor reconnects.
  const fail = (error: Error): void => {
    lost ??= error;
    void closed(connection);
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
      await closed(channel);
      await closed(connection);
    },
  };
}

/**
 * Closes a connection or a channel. Also resolves if the connection is lost while it closes, because amqplib then emits
 * `close` but never settles its own promise.
 */
export async function closed(closing: EventEmitter & Pick<ChannelModel, 'close'>): Promise<void> {
  const ended = new Promise<void>((resolve) => closing.once('close', () => resolve()));
  await Promise.race([ended, closing.close().catch(() => {})]);
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
 * queue can still be used.
 */
async function declare(connection: ChannelModel, queue: string): Promise<void> {
  const channel = await connection.createChannel();
  channel.on('error', () => {});
  try {
    await channel.assertQueue(queue, { durable: true });
    await closed(channel);
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

/** Returns the URL's `connection_timeout`, which RabbitMQ's URLs can have, or the default. */
function timeoutOf(url: string): number {
  const given = Number(new URL(url).searchParams.get('connection_timeout'));
  return Number.isInteger(given) && given > 0 ? given : connectMs;
}

/** Returns the error of the network or the broker as a BrokerError. Its text never contains the URL's password. */
export function brokerErrorOf(error: unknown, results: string): BrokerError {
  if (error instanceof BrokerError) return error;
  const { message, code } = error as { message: string; code?: string | number };
  return new BrokerError(faultOf(message, code, results), message);
}

function faultOf(message: string, code: string | number | undefined, results: string): ConductorFault {
  if (code === preconditionFailed && message.includes(`'${results}'`)) return 'conductor.results';
  if (/ACCESS.REFUSED|authentication|\b403\b/i.test(message)) return 'conductor.login';
  if (typeof code === 'string') {
    if (/PEM/.test(code)) return 'conductor.authority-file';
    if (/^CERT_(HAS_EXPIRED|NOT_YET_VALID)$/.test(code)) return 'conductor.certificate-expired';
    if (/ALTNAME/.test(code)) return 'conductor.certificate-name';
    if (/^ERR_(TLS|SSL|OSSL)|^EPROTO$/.test(code)) return 'conductor.tls';
    if (/CERT|SELF_SIGNED|VERIFY|CRL/.test(code)) return 'conductor.certificate-authority';
    if (/^E[A-Z_]+$/.test(code)) return 'conductor.unreachable';
  }
  return /ETIMEDOUT|Heartbeat timeout/.test(message) ? 'conductor.unreachable' : 'conductor.other';
}
