import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import en from '#locales/en/errors.json' with { type: 'json' };

/** Rejections by the HTTP server itself, before a handler runs. */
export type TransportRefusal = 'headers_too_large' | 'request_malformed' | 'request_too_slow' | 'upload_too_slow';

const statuses: Readonly<Record<TransportRefusal, number>> = {
  headers_too_large: 431,
  request_malformed: 400,
  request_too_slow: 408,
  upload_too_slow: 408,
};

/** Returns the rejection for an error of Node's parser; null for other errors, such as a disconnect. */
export function transportRefusal(error: NodeJS.ErrnoException): TransportRefusal | null {
  if (error.code === 'HPE_HEADER_OVERFLOW') return 'headers_too_large';
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'request_too_slow';
  return error.code?.startsWith('HPE_') === true ? 'request_malformed' : null;
}

/** Returns a complete HTTP response with a problem document in English. */
export function refusalText(
  refusal: TransportRefusal,
  params: Readonly<Record<string, number>>,
  requestId: string,
): string {
  const status = statuses[refusal];
  const detail = en[refusal].replace(/\{\{(\w+)\}\}/g, (_, name: string) => String(params[name] ?? ''));
  const problem = { type: 'about:blank', title: STATUS_CODES[status], status, detail, code: refusal, requestId };
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/problem+json',
    'Content-Language: en',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    'Connection: close',
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

/** Writes a response directly to the socket, and closes the connection. */
export function refuseConnection(socket: Duplex, text: string): void {
  if (socket.writable) socket.end(text);
  // Some clients keep writing and never read, so the connection is closed after half a second.
  setTimeout(() => socket.destroy(), 500).unref();
}
