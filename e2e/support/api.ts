import { sampleLanguages, samplePackage, sampleResource, sampleSchema } from '#samples/build.ts';
import type { Portal } from './portal.ts';

/** Fields that journeys send to `PUT /vms/{id}/extensions/{name}`. `/api/v1/openapi.json` lists all fields. */
export interface ExtensionGoal {
  handler: string;
  version: string;
  state?: 'enabled' | 'disabled';
  dependsOn?: string[];
  settings?: { publicSettings?: unknown; protectedSettings?: unknown };
}

export interface CreatedVm {
  id: string;
  name: string;
  enrollmentToken: string;
}

/** The parts of a goal state that journeys use. */
export interface GoalState {
  incarnation: number;
  extensions: {
    name: string;
    state: string;
    sequenceNumber: number;
    settings: { protectedSettings?: string; protectedSettingsCertThumbprint?: string };
  }[];
}

/** The parts of an instance view that journeys use. */
export interface InstanceView {
  vmId: string;
  incarnation: number;
  health: string;
  agent: { status: string };
  extensions: ExtensionView[];
}

export interface ExtensionView {
  name: string;
  version: string | null;
  health: string;
  goalSequenceNumber: number;
  deliveredAt: string | null;
  deadlineAt: string | null;
  handlerState: { state: string; blockedBy: string | null } | null;
  heartbeat: { verdict: string };
  status: {
    sequenceNumber: number;
    status: string;
    message: { text: string; lang: string; source: string } | null;
  } | null;
}

interface Call {
  body?: unknown;
  headers?: Record<string, string>;
  /** The expected status; any 2xx by default. */
  status?: number;
}

/** Sends requests to `/api/v1`, by default with the bootstrap token. */
export class Api {
  readonly portal: Portal;
  readonly #token: string;

  constructor(portal: Portal, token: string = portal.token) {
    this.portal = portal;
    this.#token = token;
  }

  /** Sends a request. Throws with the problem's text if the status is unexpected. */
  async call<Answer>(method: string, path: string, { body, headers, status }: Call = {}): Promise<Answer> {
    const isBytes = body instanceof Uint8Array;
    const response = await fetch(`${this.portal.url}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.#token}`,
        'accept-language': 'en',
        ...(body === undefined ? {} : { 'content-type': isBytes ? 'application/zip' : 'application/json' }),
        ...headers,
      },
      body: body === undefined ? null : isBytes ? new Uint8Array(body) : JSON.stringify(body),
    });
    const text = await response.text();
    if (status === undefined ? !response.ok : response.status !== status) {
      throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    }
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    return (text === '' ? undefined : isJson ? JSON.parse(text) : text) as Answer;
  }

  /** Creates the publisher if it does not exist yet. */
  async ensurePublisher(namespace: string): Promise<void> {
    const list = await this.call<{ items: { namespace: string }[] }>('GET', '/publishers?limit=100').catch(() => null);
    if (list?.items.some((publisher) => publisher.namespace === namespace)) return;
    await this.call('POST', '/publishers', { body: { namespace, displayName: namespace } });
  }

  /** Uploads a version with its resource files and publishes it. */
  async publish(
    handler: string,
    version: string,
    zip: Uint8Array,
    parts: { resources?: Record<string, unknown>; settingsSchema?: unknown } = {},
  ): Promise<void> {
    const base = `/handlers/${handler}/versions/${version}`;
    await this.call('PUT', `${base}/package`, { body: zip });
    for (const [lang, file] of Object.entries(parts.resources ?? {})) {
      await this.call('PUT', `${base}/resources/${lang}`, { body: file });
    }
    if (parts.settingsSchema !== undefined) {
      await this.call('PUT', `${base}/settings-schema`, { body: parts.settingsSchema });
    }
    await this.call('POST', `${base}/publish`);
  }

  /**
   * Uploads and publishes a sample handler under an id for this journey, with messages in three languages and a schema.
   */
  async publishSample(sample: string, version: string, handler: string): Promise<void> {
    await this.ensurePublisher(handler.slice(0, handler.lastIndexOf('.')));
    await this.publish(handler, version, await samplePackage(sample, version), {
      resources: Object.fromEntries(sampleLanguages.map((lang) => [lang, sampleResource(sample, lang)])),
      settingsSchema: sampleSchema(sample),
    });
  }

  createVm(name: string, tags: Record<string, string> = {}): Promise<CreatedVm> {
    return this.call('POST', '/vms', { body: { name, tags } });
  }

  setExtension(
    vmId: string,
    name: string,
    goal: ExtensionGoal,
  ): Promise<{ sequenceNumber: number; incarnation: number }> {
    return this.call('PUT', `/vms/${vmId}/extensions/${name}`, { body: { state: 'enabled', ...goal } });
  }

  goalState(vmId: string): Promise<GoalState> {
    return this.call('GET', `/vms/${vmId}/goal-state`);
  }

  instanceView(vmId: string, language = 'en'): Promise<InstanceView> {
    return this.call('GET', `/vms/${vmId}/instance-view`, { headers: { 'accept-language': language } });
  }
}
