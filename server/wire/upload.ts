import type { AgentAnswer } from '#server/agent-api/call.ts';
import { keyedDigest, sameBytes } from '#server/platform/keys.ts';
import { takeStatus } from './take-status.ts';
import { emptyAnswer, type WireCall } from './wire-call.ts';

/** Returns the secret in the URL of a VM's status blob. Each upload must contain it. */
export function statusSecret({ ctx, guest }: WireCall, containerId: string): string {
  return keyedDigest(ctx.keys.credential, 'stock-status', guest.vmId, containerId).toString('base64url');
}

/** A status upload: the parts of its URL, its headers and its content. */
export interface StatusUpload {
  containerId: string;
  query: URLSearchParams;
  header(name: string): string | null;
  /** The uploaded content; null if the request only creates a blob. */
  content: Buffer | null;
}

/** Whether a status URL belongs to the VM and contains its secret. */
export function isOwnStatus(wire: WireCall, containerId: string, ofVm: string, query: URLSearchParams): boolean {
  const sent = Buffer.from(query.get('sig') ?? '');
  return containerId === ofVm && sameBytes(sent, Buffer.from(statusSecret(wire, ofVm)));
}

/** Accepts a blob in one request, or a page blob, which is created with its length and then written page by page. */
export async function takeUpload(wire: WireCall, upload: StatusUpload, accepted: number): Promise<AgentAnswer> {
  const { pages, vmId } = wire.guest;
  const { content } = upload;
  const most = wire.ctx.config.limits.report.bytes;
  if (upload.query.get('comp') === 'page') {
    const start = Number(/^bytes=(\d{1,9})-\d{1,9}$/.exec(upload.header('x-ms-range') ?? '')?.[1] ?? Number.NaN);
    const blob = content === null || Number.isNaN(start) ? false : pages.put(vmId, start, content);
    if (blob === false) return emptyAnswer(400);
    return blob === null ? emptyAnswer(accepted) : takeStatus(wire, trimmed(blob), accepted);
  }
  if (upload.header('x-ms-blob-type')?.toLowerCase() === 'pageblob') {
    const length = Number(upload.header('x-ms-blob-content-length') ?? Number.NaN);
    if (!Number.isSafeInteger(length) || length < 1) return emptyAnswer(400);
    if (length > most) return emptyAnswer(413);
    pages.begin(vmId, length);
    return emptyAnswer(accepted);
  }
  if (content === null) return emptyAnswer(400);
  if (content.length > most) return emptyAnswer(413);
  return takeStatus(wire, content, accepted);
}

/** Removes the padding of the last page. */
function trimmed(blob: Buffer): Buffer {
  let end = blob.length;
  while (end > 0 && (blob[end - 1] === 0 || blob[end - 1] === 0x20)) end -= 1;
  return blob.subarray(0, end);
}
