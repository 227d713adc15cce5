import { AgentError } from '../agent-error.ts';

/** The settings for execution plans over AMQP, as given by options, environment variables or `config.json`. */
export interface AmqpOptions {
  amqpHost?: string;
  amqpPort?: number;
  amqpTls?: 'on' | 'off';
  amqpCa?: string;
  amqpVirtualHost?: string;
  amqpLogin?: string;
  amqpPasswordFile?: string;
  amqpInputQueue?: string;
  amqpResultExchange?: string;
  amqpResultRoutingKey?: string;
  amqpDynamicReply?: 'on' | 'off';
  amqpHeartbeatSeconds?: number;
}

/** How the agent reaches an AMQP broker, which queue it takes plans from, and where it sends answers. */
export interface AmqpSettings {
  host: string;
  port: number;
  tls: boolean;
  /** PEM file with the certificate authorities to trust for the broker; undefined to trust those of this machine. */
  ca: string | undefined;
  virtualHost: string;
  login: string;
  /** File with the password; undefined for the password `guest`. */
  passwordFile: string | undefined;
  inputQueue: string;
  resultExchange: string;
  resultRoutingKey: string;
  /** Whether a plan may name the queue for its answers. */
  dynamicReply: boolean;
  heartbeatSeconds: number;
}

/** The names of all settings for AMQP. */
export const amqpKeys = [
  'amqpHost',
  'amqpPort',
  'amqpTls',
  'amqpCa',
  'amqpVirtualHost',
  'amqpLogin',
  'amqpPasswordFile',
  'amqpInputQueue',
  'amqpResultExchange',
  'amqpResultRoutingKey',
  'amqpDynamicReply',
  'amqpHeartbeatSeconds',
] as const satisfies (keyof AmqpOptions)[];

/** Returns the settings for AMQP; null if there is no `amqpHost`. Throws AgentError if there is no `amqpInputQueue`. */
export function amqpSettingsOf(options: AmqpOptions): AmqpSettings | null {
  const { amqpHost: host, amqpInputQueue: inputQueue, amqpTls: tls = 'on' } = options;
  if (host === undefined) return null;
  if (inputQueue === undefined)
    throw new AgentError('amqpHost is set, but amqpInputQueue is not. Set both or neither.');
  return {
    ...{ host, inputQueue, tls: tls === 'on', ca: options.amqpCa, passwordFile: options.amqpPasswordFile },
    port: options.amqpPort ?? (tls === 'on' ? 5671 : 5672),
    virtualHost: options.amqpVirtualHost ?? '/',
    login: options.amqpLogin ?? 'guest',
    resultExchange: options.amqpResultExchange ?? '',
    resultRoutingKey: options.amqpResultRoutingKey ?? 'annex-execution-results',
    dynamicReply: options.amqpDynamicReply === 'on',
    heartbeatSeconds: options.amqpHeartbeatSeconds ?? 20,
  };
}
