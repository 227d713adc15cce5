import type { AgentAnswer } from '#server/agent-api/call.ts';
import { takeFrom } from '#server/agent-api/rate-limit.ts';
import { sendPackage } from '#server/agent-api/routes/packages/route.ts';
import { wrapTenantKey } from '#server/domain/stock-agents/index.ts';
import { seeForwarder, seeTransport } from './callers.ts';
import { extensionsConfigXml } from './documents/extensions-config.ts';
import { goalStateXml, hostingEnvironmentXml, sharedConfigXml, versionsXml } from './documents/goal-state.ts';
import { certificatesXml, manifestXml } from './documents/packages.ts';
import { observationsOf, provisioningOf, takeObservations } from './observations.ts';
import { noteBusy, noteIdle } from './sightings.ts';
import { takeTelemetry } from './telemetry.ts';
import { isOwnStatus, statusSecret, takeUpload } from './upload.ts';
import { absent, currentOf, emptyAnswer, jsonAnswer, readBody, type WireCall, xmlAnswer } from './wire-call.ts';

type Answer = AgentAnswer | Response;

/** Handles the agent's requests to 168.63.129.16:80, and to 169.254.169.254:80 below `/metadata`. */
export function wireServer(wire: WireCall): Promise<Answer> | Answer {
  const { call, path, query } = wire;
  const comp = query.get('comp')?.toLowerCase() ?? null;
  switch (call.method) {
    case 'GET':
      if (comp === 'versions' && path === '/') return xmlAnswer(versionsXml);
      if (isMachine(path) && comp === 'goalstate') return goalState(wire);
      if (path.startsWith('/machine/')) return config(wire);
      if (path.startsWith('/packages/')) return packages(wire, path);
      return path.startsWith('/metadata/') ? metadata(wire) : absent();
    case 'PUT':
      return path.startsWith('/status/') ? statusBlob(wire) : absent();
    case 'POST':
      return posted(wire, comp);
    default:
      return emptyAnswer(405);
  }
}

const isMachine = (path: string): boolean => path === '/machine' || path === '/machine/';

async function goalState(wire: WireCall): Promise<AgentAnswer> {
  const goalState = await currentOf(wire);
  noteIdle(wire);
  seeForwarder(wire);
  return xmlAnswer(wire.guest.text(goalState, () => goalStateXml(wire.guest.vmId, goalState)));
}

/**
 * Returns a document of the current goal state. An agent that requested a document of an older goal state notices the
 * difference and retries immediately.
 */
async function config(wire: WireCall): Promise<AgentAnswer> {
  const { guest, path, query } = wire;
  const [, containerId, what] = /^\/machine\/([^/]+)\/([a-z-]+)$/.exec(path) ?? [];
  const goalState = await currentOf(wire, requestedIncarnation(query));
  if (containerId !== goalState.containerId) return emptyAnswer(410);
  const vm = { id: guest.vmId, name: guest.agent.vmName };
  switch (what) {
    case 'hosting-environment-config':
      return xmlAnswer(hostingEnvironmentXml(vm, goalState));
    case 'shared-config':
      return xmlAnswer(sharedConfigXml(vm, goalState));
    case 'extensions-config': {
      if (!goalState.onHold) noteBusy(wire, goalState);
      const secret = statusSecret(wire, containerId);
      return xmlAnswer(extensionsConfigXml(vm.id, goalState, secret));
    }
    case 'artifacts-profile':
      return artifactsProfile(wire, query);
    case 'certificates':
      return certificates(wire, goalState.incarnation);
    default:
      return absent();
  }
}

/** Returns the incarnation in the query; 0 if there is none. */
const requestedIncarnation = (query: URLSearchParams): number =>
  Number(/^\d{1,10}$/.exec(query.get('incarnation') ?? '')?.[0] ?? 0);

/**
 * Maximum rate of new certificates from an agent, per second, with a burst of six. An agent creates a certificate
 * whenever it starts, and the activity log records each one.
 */
const renewalsPerSecond = 0.1;
const renewalSeconds = 60;

/**
 * Returns the tenant key, encrypted for the certificate in the request. The forwarder's token authorizes the request.
 */
async function certificates(wire: WireCall, incarnation: number): Promise<AgentAnswer> {
  const { call, ctx, guest } = wire;
  const sent = call.header('x-ms-guest-agent-public-x509-cert') ?? '';
  const base64 = sent.replace(/\s/g, '');
  if (!/^[A-Za-z0-9+/]{100,12000}={0,2}$/.test(base64)) return emptyAnswer(400);
  const lines = base64.match(/.{1,64}/g) ?? [];
  const pem = ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
  if (guest.transport !== base64) takeFrom(guest.renewals, renewalsPerSecond, ctx.now.getTime(), renewalSeconds);
  guest.transport = base64;
  const wrapped = await wrapTenantKey(ctx, { vmId: guest.vmId, credentialHash: guest.hash, transportPem: pem });
  if (wrapped === null) return emptyAnswer(400);
  seeTransport(wire, base64);
  return xmlAnswer(certificatesXml(wrapped, incarnation));
}

/**
 * Returns whether the agent is on hold. The agent checks this once per incarnation, and treats an error as no hold. An
 * error is therefore better than a stale value, which would keep a resumed agent on hold until the next change.
 */
async function artifactsProfile(wire: WireCall, query: URLSearchParams): Promise<AgentAnswer> {
  const requested = requestedIncarnation(query);
  const { incarnation, onHold } = await currentOf(wire, requested);
  return incarnation < requested ? emptyAnswer(424) : jsonAnswer({ onHold });
}

/**
 * Serves downloads through the host plugin: the artifacts profile, and the manifests and packages in the VM's own goal
 * state.
 */
export const artifacts = (wire: WireCall, { path, query }: { path: string; query: string }): Promise<Answer> =>
  /^\/machine\/[^/]+\/artifacts-profile$/.test(path)
    ? artifactsProfile(wire, new URLSearchParams(query))
    : packages(wire, path);

/** Returns a manifest or a package, but only if the VM's own goal state uses it. */
export async function packages(wire: WireCall, path: string): Promise<Answer> {
  const sha256 = /^\/packages\/([0-9a-f]{64})\.zip$/.exec(path)?.[1];
  if (sha256 !== undefined) return sendPackage(wire.call, wire.guest.vmId, sha256);
  const handler = /^\/packages\/([\w.-]{1,192})\/manifest\.xml$/.exec(path)?.[1];
  if (handler === undefined) return absent();
  const manifest = manifestXml(handler, await currentOf(wire));
  return manifest === null ? absent() : xmlAnswer(manifest);
}

/** Accepts a status that the agent uploads directly instead of through the host plugin. */
async function statusBlob(wire: WireCall): Promise<AgentAnswer> {
  const { call, path, query } = wire;
  const containerId = path.slice('/status/'.length);
  const content = await readBody(wire, wire.ctx.config.limits.report.bytes);
  const ofVm = (await currentOf(wire)).containerId;
  if (!isOwnStatus(wire, containerId, ofVm, query)) return emptyAnswer(400);
  const begins = content.length === 0;
  const header = (name: string) => call.header(name);
  return takeUpload(wire, { containerId, query, header, content: begins ? null : content }, 201);
}

/** Receives what the agent posts when it starts and every minute. Stores outputs and unhealthy observations. */
async function posted(wire: WireCall, comp: string | null): Promise<AgentAnswer> {
  const { ctx, path } = wire;
  const body = await readBody(wire, ctx.config.limits.report.bytes);
  if (isMachine(path) && comp === 'telemetrydata') await takeTelemetry(wire, body);
  if (isMachine(path) && comp === 'health') await takeObservations(wire, provisioningOf(body));
  if (path === '/HealthService') await takeObservations(wire, observationsOf(body));
  if (isMachine(path) && comp === 'roleproperties') return emptyAnswer(202);
  const isKnown = path === '/HealthService' || (isMachine(path) && (comp === 'health' || comp === 'telemetrydata'));
  return isKnown ? emptyAnswer(200) : absent();
}

/** Returns instance metadata as for a machine outside Azure: most fields are empty. */
function metadata({ guest, path }: WireCall): AgentAnswer {
  const { vmId } = guest;
  const name = guest.agent.vmName;
  const nothing = {
    location: '',
    subscriptionId: '',
    resourceGroupName: '',
    publisher: '',
    offer: '',
    sku: '',
    version: '',
  };
  return path === '/metadata/instance/compute' ? jsonAnswer({ ...nothing, vmId, name }) : absent();
}
