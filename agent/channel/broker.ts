import { readFileSync } from 'node:fs';
import type { ChannelModel, Options } from 'amqplib';
import { AgentError, sentenceOf } from '../agent-error.ts';
import type { AmqpSettings } from './amqp-settings.ts';

/** Maximum time for connecting, including the TLS handshake and the sign-in. */
const connectMs = 15_000;

/**
 * Connects to the AMQP broker. The broker's certificate must be valid for its host name; no setting turns this check
 * off (MU-65). Throws AgentError if the agent cannot connect.
 */
export async function connectBroker(settings: AmqpSettings): Promise<ChannelModel> {
  // Loaded here, because most agents do not use AMQP.
  const { connect } = await import('amqplib');
  const { host, port, tls, ca, virtualHost, login, heartbeatSeconds } = settings;
  const url: Options.Connect = {
    ...{ protocol: tls ? 'amqps' : 'amqp', hostname: host, port, vhost: virtualHost },
    ...{ username: login, password: passwordOf(settings), heartbeat: heartbeatSeconds },
  };
  const authorities = ca === undefined ? {} : { ca: [readOrThrow(ca, 'amqpCa')] };
  try {
    // Without `rejectUnauthorized`, the environment variable NODE_TLS_REJECT_UNAUTHORIZED could turn verification off.
    return await connect(url, { timeout: connectMs, keepAlive: true, rejectUnauthorized: true, ...authorities });
  } catch (error) {
    throw new AgentError(`The broker ${host}:${port} cannot be used: ${sentenceOf(error)}`);
  }
}

function passwordOf({ passwordFile }: AmqpSettings): string {
  return passwordFile === undefined ? 'guest' : readOrThrow(passwordFile, 'amqpPasswordFile').toString('utf8').trim();
}

function readOrThrow(file: string, setting: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new AgentError(`The file of ${setting} cannot be read: ${sentenceOf(error)}`);
  }
}
