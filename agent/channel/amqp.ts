import { randomUUID } from 'node:crypto';
import type { ChannelModel, ConfirmChannel, ConsumeMessage } from 'amqplib';
import { AgentError, sentenceOf } from '../agent-error.ts';
import type { Journal } from '../journal.ts';
import type { ExecutionCalls } from '../portal/execution-calls.ts';
import { wait } from '../portal/wait.ts';
import type { AmqpSettings } from './amqp-settings.ts';
import { connectBroker } from './broker.ts';
import type { AmqpReply } from './plan-message.ts';

/** What the agent did with a message: stored its plan on disk, left it for later, or could not use it. */
export type MessageOutcome = 'stored' | 'later' | 'useless';

export interface AmqpChannelOptions {
  settings: AmqpSettings;
  journal: Journal;
  /** Whether this machine can take a plan now. */
  mayReceive(): boolean;
  receive(message: ConsumeMessage): MessageOutcome;
  /** Called each time the connection is established. */
  onConnected(): void;
}

/** Pauses between attempts to connect, in seconds. */
const pauseSeconds = { first: 5, factor: 1.2, most: 60 };

/**
 * The channel to an AMQP broker. Takes one plan at a time: a message is acknowledged once its plan is on disk, and the
 * other messages stay in the queue until that plan is answered.
 */
export class AmqpChannel {
  private readonly options: AmqpChannelOptions;
  private readonly stopping = new AbortController();
  private wake = new AbortController();
  private channel: ConfirmChannel | null = null;
  /** Tag of the consumer; null while the channel does not consume the queue. */
  private consumer: string | null = null;
  /** The message_ids of answers that the broker has returned and not yet confirmed. */
  private readonly returned = new Set<string>();

  constructor(options: AmqpChannelOptions) {
    this.options = options;
  }

  /** Connects to the broker, and reconnects after failures, until `stop` is called. */
  async run(): Promise<void> {
    const { journal, settings } = this.options;
    let seconds = pauseSeconds.first;
    let isAway = false;
    while (!this.stopping.signal.aborted) {
      try {
        await this.session(() => {
          seconds = pauseSeconds.first;
          journal.info(`Connected to the broker ${settings.host}${isAway ? ' again' : ''}.`);
          isAway = false;
        });
      } catch (error) {
        if (this.stopping.signal.aborted) return;
        if (!isAway) journal.warn(`No plans over AMQP: ${sentenceOf(error)} Trying again.`);
        isAway = true;
      }
      await wait(seconds, [this.stopping.signal]);
      seconds = Math.min(pauseSeconds.most, seconds * pauseSeconds.factor);
    }
  }

  /** Makes the channel check again whether this machine can take a plan. */
  resume(): void {
    this.wake.abort();
  }

  stop(): void {
    this.stopping.abort();
  }

  /** Returns the calls that send the answers to a plan, with the same interface as the calls to the portal. */
  answers(reply: AmqpReply): Pick<ExecutionCalls, 'sendProgress' | 'sendTranscript' | 'sendResult'> {
    return {
      // AMQP has no message for the progress of a plan.
      sendProgress: async () => null,
      sendTranscript: async (_id, { from, bytes }) => {
        const end = bytes.lastIndexOf('\n') + 1;
        for (const message of logMessagesIn(bytes.subarray(0, end))) await this.publish(message, reply, message.ID);
        return { received: from + end, nextAfter: null };
      },
      sendResult: (_id, result) => this.publish(result, reply, reply.messageId),
    };
  }

  /**
   * Publishes an answer. Throws AgentError if the broker does not confirm the answer, or has no queue for it. The
   * caller retries later.
   */
  private async publish(body: string | object, reply: AmqpReply, messageId: string): Promise<void> {
    const { channel } = this;
    if (channel === null) throw new AgentError('There is no connection to the broker.');
    const { resultExchange, resultRoutingKey, dynamicReply } = this.options.settings;
    const [exchange, key] =
      dynamicReply && reply.replyTo !== null ? ['', reply.replyTo] : [resultExchange, resultRoutingKey];
    await new Promise<void>((resolve, reject) => {
      const content = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
      const properties = {
        ...{ mandatory: true, persistent: true, contentType: 'application/json', contentEncoding: 'utf-8' },
        ...{ messageId, correlationId: reply.messageId },
      };
      channel.publish(exchange, key, content, properties, (error: unknown) =>
        error === null ? resolve() : reject(new AgentError('The broker did not accept an answer.')),
      );
    });
    // The broker returns a message that has no queue before it confirms that message.
    if (this.returned.delete(messageId))
      throw new AgentError(`The broker has no queue for answers with the key ${key}.`);
  }

  private async session(onReady: () => void): Promise<void> {
    const connection = await connectBroker(this.options.settings);
    let failure: unknown = null;
    const fail = (error: unknown): void => {
      failure ??= error;
      this.channel = null;
      this.wake.abort();
    };
    connection.on('error', fail);
    connection.on('close', () => fail(new AgentError('The broker closed the connection.')));
    try {
      const channel = await this.openChannel(connection, fail);
      onReady();
      this.options.onConnected();
      while (!this.stopping.signal.aborted && failure === null) {
        this.wake = new AbortController();
        await this.followWish(channel, fail);
        if (failure === null) await wait(3600, [this.wake.signal, this.stopping.signal]);
      }
      if (failure !== null) throw failure;
      if (this.consumer !== null) await channel.cancel(this.consumer);
      await channel.close();
    } finally {
      this.channel = null;
      this.consumer = null;
      this.returned.clear();
      await connection.close().catch(() => {});
    }
  }

  private async openChannel(connection: ChannelModel, fail: (error: unknown) => void): Promise<ConfirmChannel> {
    const channel = await connection.createConfirmChannel();
    channel.on('error', fail);
    channel.on('return', ({ properties }) => this.returned.add(String(properties.messageId)));
    await channel.prefetch(1);
    this.channel = channel;
    return channel;
  }

  /** Starts consuming the queue if this machine can take a plan. The agent never declares the queue. */
  private async followWish(channel: ConfirmChannel, fail: (error: unknown) => void): Promise<void> {
    if (this.consumer !== null || !this.options.mayReceive()) return;
    const { inputQueue } = this.options.settings;
    // Set before the first message, which can arrive together with the confirmation of the consumer.
    const consumerTag = randomUUID();
    this.consumer = consumerTag;
    await channel.consume(
      inputQueue,
      (message) => {
        if (message === null) fail(new AgentError(`The queue ${inputQueue} was deleted.`));
        else void this.take(channel, message, consumerTag).catch(fail);
      },
      { consumerTag },
    );
  }

  private async take(channel: ConfirmChannel, message: ConsumeMessage, consumerTag: string): Promise<void> {
    const reception = this.options.receive(message);
    if (reception === 'useless') return channel.ack(message);
    // The consumer is canceled first: after the acknowledgement, the broker would send the next plan.
    await channel.cancel(consumerTag);
    if (reception === 'stored') channel.ack(message);
    else channel.nack(message, false, true);
    if (reception === 'later') await wait(1, [this.stopping.signal]);
    this.consumer = null;
    this.resume();
  }
}

/** Returns the log messages in the rows of a transcript. */
function logMessagesIn(bytes: Buffer): { ID: string }[] {
  return bytes
    .toString('utf8')
    .split('\n')
    .flatMap((line) => {
      if (!line.includes('"log"')) return [];
      const row = rowOf(line);
      return row?.[1] === 'log' ? [row[2] as { ID: string }] : [];
    });
}

function rowOf(line: string): unknown[] | null {
  try {
    const row: unknown = JSON.parse(line);
    return Array.isArray(row) ? row : null;
  } catch {
    return null;
  }
}
