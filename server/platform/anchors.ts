import { createSocket } from 'node:dgram';
import { appendFile, mkdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A destination outside the database for anchors of the activity log. */
export type AnchorTarget =
  | { kind: 'file'; path: string }
  | { kind: 'syslog'; host: string; port: number }
  | { kind: 'https'; url: string };

export interface AnchorMessage {
  at: string;
  position: number;
  hash: string;
}

const timeoutMs = 10_000;

/**
 * Parses `file:/…`, `syslog://host:514` and `https://…`, separated by commas. Throws an Error that lists the valid
 * forms.
 */
export function readAnchorTargets(text: string): AnchorTarget[] {
  return text.split(',').map((part) => readTarget(part.trim()));
}

function readTarget(text: string): AnchorTarget {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && /^file:\//i.test(text) && url.host === '') {
    return { kind: 'file', path: fileURLToPath(url) };
  }
  const syslog = /^syslog:(?:\/\/)?([^/:[\]]+|\[[0-9a-f:]+\])(?::(\d{1,5}))?$/i.exec(text);
  if (syslog?.[1] !== undefined) {
    return { kind: 'syslog', host: syslog[1].replace(/^\[|\]$/g, ''), port: Number(syslog[2] ?? 514) };
  }
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
  if (url !== null && isSafe && url.username === '' && url.password === '') return { kind: 'https', url: url.href };
  throw new Error('must be file:/path, syslog://host:port or https:// addresses separated by commas');
}

const isLoopback = (host: string): boolean => ['localhost', '127.0.0.1', '[::1]'].includes(host);

/** Returns a target's name for the log. Omits the path and query of an HTTPS URL, because they may contain secrets. */
export function nameTarget(target: AnchorTarget): string {
  switch (target.kind) {
    case 'file':
      return `file:${target.path}`;
    case 'syslog':
      return `syslog://${target.host}:${target.port}`;
    case 'https':
      return new URL(target.url).origin;
  }
}

/**
 * Appends an anchor to a file as a JSON line, sends it to syslog as an RFC 5424 message over UDP, or posts it to a URL
 * as JSON. Throws if this fails.
 */
export async function sendAnchor(target: AnchorTarget, message: AnchorMessage): Promise<void> {
  switch (target.kind) {
    case 'file':
      await mkdir(dirname(target.path), { recursive: true });
      return appendFile(target.path, `${JSON.stringify(message)}\n`, { mode: 0o600 });
    case 'syslog':
      return sendDatagram(target, message);
    case 'https': {
      const response = await fetch(target.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(message),
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      });
      await response.body?.cancel();
      if (!response.ok) throw new Error(`answered with ${response.status}`);
    }
  }
}

/** Facility 13 (log audit), severity 5 (notice). */
const priority = 13 * 8 + 5;

function sendDatagram(
  { host, port }: { host: string; port: number },
  { at, position, hash }: AnchorMessage,
): Promise<void> {
  const text = `<${priority}>1 ${at} ${hostname() || '-'} annex ${process.pid} activity-anchor - ${position}:${hash}`;
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  const sent = new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.send(text, port, host, (error) => (error ? reject(error) : resolve()));
  });
  return sent.finally(() => socket.close());
}
