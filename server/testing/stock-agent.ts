import { BlockList } from 'node:net';
import pino from 'pino';
import { SaxesParser } from 'saxes';
import { createAgentHandler } from '#server/agent-api/door.ts';
import type { KnownAgents } from '#server/agent-api/memory/known-agents.ts';
import type { PresenceBook } from '#server/agent-api/presence/presence-book.ts';
import type { Context, Services } from '#server/domain/context.ts';
import { registerVm } from '#server/domain/enrollment/index.ts';
import { grantWireAccess } from '#server/domain/stock-agents/index.ts';
import type { Clock } from '#server/platform/clock.ts';
import { type Serving, serve } from '#server/process/http.ts';
import { createWireHandler, isWirePath, wireUploads } from '#server/wire/door.ts';

/** The stock agent's entry points and the agent API on one port, as on the gateway. */
export interface WireDoor {
  url: string;
  serving: Serving;
  agents: KnownAgents;
  presence: PresenceBook;
  close(): Promise<void>;
}

export async function openWireDoor(services: Services, clock?: Clock): Promise<WireDoor> {
  const log = pino({ level: 'silent' });
  const agent = createAgentHandler({ ...services, log, ...(clock && { clock }) });
  const wire = createWireHandler(agent.door);
  const serving = await serve({
    host: '127.0.0.1',
    port: 0,
    trustProxy: new BlockList(),
    limits: services.config.limits,
    log,
    route: (path) =>
      isWirePath(path)
        ? { core: wire, direct: wire.serve, light: true, upload: wireUploads.test(path) }
        : { core: agent, direct: agent.serve, light: true },
  });
  return {
    url: `http://127.0.0.1:${serving.port}`,
    serving,
    agents: agent.door.agents,
    presence: agent.door.presence,
    close: async () => {
      await serving.close(1_000);
      await agent.close();
    },
  };
}

/** An XML element, with the parts that the stock agent reads. */
export interface Element {
  name: string;
  attributes: Record<string, string>;
  text: string;
  children: Element[];
}

/** Parses a document. Throws if it is not well-formed or contains CDATA, which the agent does not read. */
export function readXml(text: string): Element {
  const root: Element = { name: '', attributes: {}, text: '', children: [] };
  const open = [root];
  const parser = new SaxesParser();
  parser.on('opentag', ({ name, attributes }) => {
    const element = { name, attributes: { ...attributes }, text: '', children: [] };
    open.at(-1)?.children.push(element);
    open.push(element);
  });
  parser.on('closetag', () => void open.pop());
  parser.on('text', (part) => {
    const element = open.at(-1);
    if (element) element.text += part;
  });
  parser.on('cdata', () => {
    throw new Error('the stock agent reads no CDATA');
  });
  parser.on('error', (error) => {
    throw error;
  });
  parser.write(text).close();
  return root;
}

/** Returns all elements with a name, at any depth. */
export const elementsOf = (root: Element, name: string): Element[] =>
  root.children.flatMap((child) => [...(child.name === name ? [child] : []), ...elementsOf(child, name)]);

export const textOf = (root: Element, name: string): string => elementsOf(root, name)[0]?.text ?? '';

/** A goal state, as the stock agent reads it from the documents. */
export interface Wanted {
  incarnation: string;
  containerId: string;
  plugins: { name: string; version: string; state: string }[];
  settings: { handler: string; name: string | null; state: string; seqNo: number; level: number; json: unknown }[];
  statusUri: string;
  onHold: boolean;
}

/** A minimal stock agent. It fetches goal states and uploads statuses, but runs no handlers. */
export class StockVm {
  readonly vmId: string;
  readonly token: string;
  readonly #url: string;
  #wanted: Wanted | null = null;
  /** The last goal state that the agent finished. */
  #done: Wanted | null = null;

  constructor(url: string, vmId: string, token: string) {
    this.#url = url;
    this.vmId = vmId;
    this.token = token;
  }

  /** Sends a request as the forwarder does. */
  call(side: 'wire' | 'hgap', path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { 'x-guest-token': this.token, ...(init.headers as Record<string, string>) };
    return fetch(`${this.#url}/${side}/${this.vmId}${path}`, { ...init, headers });
  }

  /** Requests a URL from a document, as the forwarder does. Throws if its origin is not the wire server's. */
  at(address: string, init: RequestInit = {}): Promise<Response> {
    const { origin, pathname, search } = new URL(address);
    if (origin !== 'http://168.63.129.16') throw new Error(`an address that nobody answers: ${origin}`);
    return this.call('wire', pathname + search, init);
  }

  async #read(answer: Promise<Response>): Promise<Element> {
    const { status, ...response } = await answer.then(async (got) => ({ status: got.status, body: await got.text() }));
    if (status !== 200) throw new Error(`${status}: ${response.body}`);
    return readXml(response.body);
  }

  /** Polls once. If the incarnation has changed, fetches the documents, except the certificates. */
  async poll(): Promise<Wanted> {
    const goalState = await this.#read(this.call('wire', '/machine/?comp=goalstate'));
    const incarnation = textOf(goalState, 'Incarnation');
    if (this.#wanted?.incarnation === incarnation) return this.#wanted;
    await this.#read(this.at(textOf(goalState, 'HostingEnvironmentConfig')));
    await this.#read(this.at(textOf(goalState, 'SharedConfig')));
    const config = await this.#read(this.at(textOf(goalState, 'ExtensionsConfig')));
    const plugins = elementsOf(elementsOf(config, 'Plugins')[0] ?? config, 'Plugin');
    const settings = elementsOf(elementsOf(config, 'PluginSettings')[0] ?? config, 'Plugin');
    const profile = await this.at(textOf(config, 'InVMArtifactsProfileBlob'));
    this.#wanted = {
      incarnation,
      containerId: textOf(goalState, 'ContainerId'),
      plugins: plugins.map(({ attributes: { name = '', version = '', state = '' } }) => ({ name, version, state })),
      settings: settings.flatMap((plugin) => settingsOf(plugin)),
      statusUri: textOf(config, 'StatusUploadBlob'),
      onHold: ((await profile.json()) as { onHold: boolean }).onHold,
    };
    if (!this.#wanted.onHold) this.#done = this.#wanted;
    return this.#wanted;
  }

  /**
   * Uploads a status through the host plugin. By default, the status says that everything in the last finished
   * goal state succeeded.
   */
  async report(change: (blob: StatusBlob) => void = () => {}): Promise<Response> {
    const wanted = this.#wanted ?? (await this.poll());
    const blob = statusOf(this.#done ?? { ...wanted, plugins: [], settings: [] });
    change(blob);
    return this.upload(wanted.statusUri, JSON.stringify(blob));
  }

  upload(requestUri: string, content: string): Promise<Response> {
    const headers = [{ headerName: 'x-ms-blob-type', headerValue: 'BlockBlob' }];
    const body = { requestUri, headers, content: Buffer.from(content).toString('base64') };
    return this.call('hgap', '/status', {
      method: 'PUT',
      headers: { 'x-ms-containerid': this.#wanted?.containerId ?? '' },
      body: JSON.stringify(body),
    });
  }
}

function settingsOf(plugin: Element): Wanted['settings'] {
  const levels = elementsOf(plugin, 'DependsOn');
  const nodes = [...elementsOf(plugin, 'RuntimeSettings'), ...elementsOf(plugin, 'ExtensionRuntimeSettings')];
  return nodes.map(({ attributes, text }) => {
    const name = attributes.name ?? null;
    const level = levels.find((each) => (each.attributes.name ?? null) === name)?.attributes.dependencyLevel;
    const { runtimeSettings } = JSON.parse(text) as { runtimeSettings: [{ handlerSettings: unknown }] };
    return {
      handler: plugin.attributes.name ?? '',
      name,
      state: attributes.state ?? '',
      seqNo: Number(attributes.seqNo),
      level: Number(level ?? 0),
      json: runtimeSettings[0].handlerSettings,
    };
  });
}

export interface HandlerAggregate {
  handlerName: string;
  handlerVersion: string;
  status: string;
  code: number;
  useExactVersion: boolean;
  formattedMessage: { lang: string; message: string };
  runtimeSettingsStatus?: object;
}

export interface StatusBlob {
  version: string;
  timestampUTC: string;
  guestOSInfo: object;
  aggregateStatus: {
    guestAgentStatus: object;
    handlerAggregateStatus: HandlerAggregate[];
    vmArtifactsAggregateStatus?: { goalStateAggregateStatus: Record<string, unknown> } | undefined;
  };
}

/** Returns the status that the agent uploads after it has applied a goal state. Omits uninstalled handlers. */
export function statusOf({ incarnation, plugins, settings }: Wanted): StatusBlob {
  const at = '2026-01-01T00:00:00Z';
  const formatted = (message: string) => ({ lang: 'en-US', message });
  const handlers = plugins
    .filter(({ state }) => state !== 'uninstall')
    .flatMap(({ name, version, state }) =>
      settings
        .filter((each) => each.handler === name && each.state !== 'disabled')
        .map((each) => ({
          handlerName: name,
          handlerVersion: version,
          status: state === 'disabled' ? 'NotReady' : 'Ready',
          code: 0,
          useExactVersion: true,
          formattedMessage: formatted(state === 'disabled' ? 'Plugin disabled' : 'Plugin enabled'),
          runtimeSettingsStatus: {
            sequenceNumber: each.seqNo,
            ...(each.name !== null && { extensionName: each.name }),
            settingsStatus: {
              version: 1.0,
              timestampUTC: at,
              status: {
                name,
                operation: 'Enable',
                status: 'success',
                code: 0,
                configurationAppliedTime: null,
                formattedMessage: formatted('done'),
              },
            },
          },
        })),
    );
  return {
    version: '1.1',
    timestampUTC: at,
    guestOSInfo: { computerName: 'guest', osName: 'debian', osVersion: '12.5', version: '2.7.3.0' },
    aggregateStatus: {
      guestAgentStatus: { version: '2.7.3.0', status: 'Ready', formattedMessage: formatted('Guest Agent is running') },
      handlerAggregateStatus: handlers,
      vmArtifactsAggregateStatus: {
        goalStateAggregateStatus: {
          inSvdSeqNo: incarnation,
          status: 'Success',
          code: 0,
          formattedMessage: formatted('GoalState executed successfully'),
          timestampUTC: at,
        },
      },
    },
  };
}

/**
 * Returns what the agent posts to `/HealthService`. The value of each observation is true if it is healthy, and
 * otherwise the reported text.
 */
export const healthPost = (formatted: Record<string, true | string>): string =>
  JSON.stringify({
    Api: 'reporttargethealth',
    Version: '1.0',
    Source: 'WALinuxAgent',
    Observations: Object.entries(formatted).map(([ObservationName, value]) => ({
      ObservationName,
      IsHealthy: value === true,
      Description: '',
      Value: value === true ? '' : value,
    })),
  });

/** Creates a VM with stock agent access, and returns its stock agent. */
export async function givenStockVm(ctx: Context, door: { url: string }, name: string): Promise<StockVm> {
  const { id } = await registerVm(ctx, { name });
  const { token } = await grantWireAccess(ctx, { vmId: id });
  return new StockVm(door.url, id, token);
}

/** Returns the headers with which the agent requests the tenant key. */
export const transportHeader = (pem: string): Record<string, string> => ({
  'x-ms-guest-agent-public-x509-cert': pem.replace(/-----[^-]+-----|\s/g, ''),
  'x-ms-cipher-name': 'DES_EDE3_CBC',
});
