import type { IncomingMessage } from 'node:http';
import type { Limits } from '#server/platform/limits.ts';

/** Time before the pace of an upload is first measured, and between measurements; milliseconds. */
const measured = 10_000;

/**
 * Limits the time of a body: 30 seconds, or for an upload a minimum of bytes per second. Calls `tooSlow` once when it is
 * exceeded.
 */
export function keepPace(
  request: IncomingMessage,
  limits: Limits['http'],
  upload: boolean,
  tooSlow: (kind: 'request' | 'upload') => void,
): void {
  const hasBody =
    request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
  if (!hasBody) return;
  const done = (): void => clearInterval(timer);
  const { socket } = request;
  let seen = socket.bytesRead;
  const period = upload ? Math.min(measured, limits.requestMs) : limits.requestMs;
  const timer = setInterval(() => {
    if (request.complete) return done();
    const received = socket.bytesRead - seen;
    seen = socket.bytesRead;
    // While the body is not read, the sender cannot continue: that is the portal's pace, not the sender's.
    const waitsForUs = request.readableLength >= request.readableHighWaterMark;
    if (upload && (waitsForUs || received >= (limits.uploadBytesPerSecond * period) / 1_000)) return;
    done();
    tooSlow(upload ? 'upload' : 'request');
  }, period);
  timer.unref();
  request.once('close', done);
}
