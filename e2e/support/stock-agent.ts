/** The parts of a handler's status that the stock agent passes on, all as text. */
export interface StockStatus {
  status: 'success' | 'transitioning' | 'warning' | 'error';
  operation?: string;
  text: string;
  substatus?: { name: string; text: string }[];
}

/**
 * A stock agent behind its forwarder, reduced to what a page needs: it fetches its goal state and sends a status for
 * each handler. Other tests run the real agent.
 */
export class StockAgent {
  readonly #door: string;
  readonly #token: string;

  constructor(gatewayUrl: string, vmId: string, token: string) {
    this.#door = `${gatewayUrl}/wire/${vmId}`;
    this.#token = token;
  }

  /** Fetches the goal state and reports each of its handlers as ready, with the status of its extension. */
  async report(says: StockStatus): Promise<void> {
    const goalState = await this.#read('http://168.63.129.16/machine/?comp=goalstate');
    const incarnation = elementOf(goalState, 'Incarnation');
    const config = await this.#read(elementOf(goalState, 'ExtensionsConfig'));
    const formatted = (message: string) => ({ lang: 'en-US', message });
    const now = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
    const plugins = [
      ...config.matchAll(
        /<Plugin\s[^>]*name="([^"]+)"[^>]*version="([^"]+)"[^>]*>\s*<RuntimeSettings[^>]*seqNo="(\d+)"/g,
      ),
    ];
    const blob = {
      version: '1.1',
      timestampUTC: now,
      guestOSInfo: { computerName: 'debian', osName: 'debian', osVersion: '12.9', version: '2.7.3.0' },
      aggregateStatus: {
        guestAgentStatus: {
          version: '2.7.3.0',
          status: 'Ready',
          formattedMessage: formatted('Guest Agent is running'),
        },
        handlerAggregateStatus: plugins.map(([, handlerName, handlerVersion, seqNo]) => ({
          handlerName,
          handlerVersion,
          status: 'ready',
          code: 0,
          formattedMessage: formatted('Plugin enabled'),
          runtimeSettingsStatus: {
            sequenceNumber: Number(seqNo),
            settingsStatus: {
              version: 1,
              timestampUTC: now,
              status: {
                name: handlerName,
                operation: says.operation ?? null,
                status: says.status,
                code: 0,
                formattedMessage: formatted(says.text),
                substatus: (says.substatus ?? []).map(({ name, text }) => ({
                  name,
                  status: 'success',
                  code: 0,
                  formattedMessage: formatted(text),
                })),
              },
            },
          },
        })),
        vmArtifactsAggregateStatus: {
          goalStateAggregateStatus: {
            inSvdSeqNo: incarnation,
            status: 'Success',
            code: 0,
            formattedMessage: formatted('GoalState executed successfully'),
            timestampUTC: now,
          },
        },
      },
    };
    await this.#ask(elementOf(config, 'StatusUploadBlob'), {
      method: 'PUT',
      headers: { 'x-ms-blob-type': 'BlockBlob', 'x-ms-version': '2014-02-14' },
      body: JSON.stringify(blob),
    });
  }

  async #read(address: string): Promise<string> {
    return (await this.#ask(address)).text();
  }

  /** Requests a URL that a document contains, as the forwarder does: from the gateway, with the token. */
  async #ask(address: string, init: RequestInit = {}): Promise<Response> {
    const { pathname, search } = new URL(address);
    const headers = { 'x-ms-agent-name': 'WALinuxAgent', ...init.headers, 'x-guest-token': this.#token };
    const response = await fetch(`${this.#door}${pathname}${search}`, { ...init, headers });
    if (!response.ok) throw new Error(`${init.method ?? 'GET'} ${pathname} answered ${response.status}`);
    return response;
  }
}

/** Returns the text of the first element with that name. URLs contain no entity but &amp;. */
function elementOf(xml: string, name: string): string {
  const text = new RegExp(`<${name}(?:\\s[^>]*)?>([^<]*)</${name}>`).exec(xml)?.[1];
  if (text === undefined) throw new Error(`There is no ${name} in:\n${xml}`);
  return text.replaceAll('&amp;', '&');
}
