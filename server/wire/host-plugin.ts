import { z } from 'zod';
import type { AgentAnswer } from '#server/agent-api/call.ts';
import { parseJson } from '#server/platform/json.ts';
import { seeContainer } from './callers.ts';
import { pathOfAddress } from './documents/addresses.ts';
import { isOwnStatus, takeUpload } from './upload.ts';
import { absent, currentOf, emptyAnswer, jsonAnswer, readBody, type WireCall } from './wire-call.ts';
import { artifacts } from './wire-server.ts';

/** Handles requests to the host plugin, which the agent sends to 168.63.129.16:32526. */
export function hostPlugin(wire: WireCall): Promise<AgentAnswer | Response> | AgentAnswer {
  const { call, path } = wire;
  switch (`${call.method} ${path}`) {
    case 'GET /versions':
      return jsonAnswer(['2015-09-01']);
    case 'GET /health':
      return emptyAnswer(200);
    case 'PUT /status':
      return ofContainer(wire, () => status(wire));
    case 'GET /extensionArtifact':
      return ofContainer(wire, () => artifact(wire));
    case 'PUT /vmAgentLog':
      return agentLog(wire);
    // Requests for `/vmSettings` end here. A 404 tells the agent that the host does not support it.
    default:
      return absent();
  }
}

/** Responds with 410 to requests for a former container, so that the agent fetches its goal state again. */
async function ofContainer<A>(wire: WireCall, answer: () => Promise<A>): Promise<A | AgentAnswer> {
  const sent = wire.call.header('x-ms-containerid');
  if (sent === null) return answer();
  const current = (await currentOf(wire)).containerId;
  seeContainer(wire, sent, current);
  if (sent === current) return answer();
  await readBody(wire, maxBytes(wire)).catch(() => {});
  return emptyAnswer(410);
}

/** Maximum bytes of a request, which contains a report in base64 and some headers. */
const maxBytes = ({ ctx }: WireCall): number => Math.ceil(ctx.config.limits.report.bytes * 1.4) + 16_384;

const envelope = z.looseObject({
  requestUri: z.string(),
  headers: z
    .array(z.looseObject({ headerName: z.string(), headerValue: z.coerce.string() }))
    .nullish()
    .catch([]),
  content: z.string().nullish(),
});

/**
 * Handles the upload of a status, which the agent wraps as a request to a blob store. The blob's URL must be the
 * portal's own.
 */
async function status(wire: WireCall): Promise<AgentAnswer> {
  const bytes = await readBody(wire, maxBytes(wire));
  const { value } = parseJson(bytes, { maxDepth: 8, oddities: 'repair' });
  const read = envelope.safeParse(value);
  if (!read.success) return emptyAnswer(400);
  const { requestUri, headers, content } = read.data;
  const address = pathOfAddress(requestUri);
  const containerId = /^\/status\/([^/]+)$/.exec(address?.path ?? '')?.[1];
  if (address === null || containerId === undefined) return emptyAnswer(400);
  const query = new URLSearchParams(address.query);
  const ofVm = (await currentOf(wire)).containerId;
  if (!isOwnStatus(wire, containerId, ofVm, query)) return emptyAnswer(400);
  const sent = new Map((headers ?? []).map((each) => [each.headerName.toLowerCase(), each.headerValue]));
  const header = (name: string) => sent.get(name) ?? null;
  const decoded = content === undefined || content === null ? null : Buffer.from(content, 'base64');
  return takeUpload(wire, { containerId, query, header, content: decoded }, 200);
}

/** Responds with the contents of a URL, but only if it is in the VM's own documents. */
async function artifact(wire: WireCall): Promise<AgentAnswer | Response> {
  const address = pathOfAddress(wire.call.header('x-ms-artifact-location') ?? '');
  return address === null ? absent() : artifacts(wire, address);
}

/**
 * Accepts and discards the agent's own log, because the agent expects success. A VM can send only one log at a time, so
 * that slow uploads do not accumulate.
 */
async function agentLog({ call, ctx, guest }: WireCall): Promise<AgentAnswer> {
  if (guest.isProcessing.log) return emptyAnswer(424);
  guest.isProcessing.log = true;
  try {
    let size = 0;
    for await (const chunk of call.stream()) {
      size += chunk.byteLength;
      if (size > ctx.config.limits.logs.archiveBytes) return emptyAnswer(413);
    }
    return emptyAnswer(200);
  } finally {
    guest.isProcessing.log = false;
  }
}
