import { Connection, type HttpReply } from '../load/connection.ts';
import { handler, type StockVm } from './seed-stock.ts';

/** The periodic calls of a stock agent, as its forwarder relays them. */
export class StockCalls {
  readonly #vms: readonly StockVm[];
  readonly #statuses: string[] = [];

  constructor(vms: readonly StockVm[]) {
    this.#vms = vms;
  }

  /** Reads each VM's goal state once, because the VM's status uploads contain parts of it. */
  async meet(host: string, port: number): Promise<void> {
    const connection = new Connection(host, port);
    const ask = async (request: string): Promise<string> => {
      const reply = await new Promise<HttpReply>((resolve) => connection.send(request, resolve));
      if (reply.status !== 200) throw new Error(`A stock agent was answered with ${reply.error ?? reply.status}.`);
      return reply.body;
    };
    for (const [n] of this.#vms.entries()) {
      const goalState = await ask(this.goalState(n));
      const path = /<ExtensionsConfig>http:\/\/168\.63\.129\.16([^<]+)</.exec(goalState)?.[1] ?? '';
      const config = await ask(this.#request(n, 'GET', 'wire', path));
      const address = /<StatusUploadBlob[^>]*>([^<]+)</.exec(config)?.[1] ?? '';
      const incarnation = /<Incarnation>(\d+)</.exec(goalState)?.[1] ?? '';
      const container = /<ContainerId>([^<]+)</.exec(goalState)?.[1] ?? '';
      this.#statuses[n] = this.#request(n, 'PUT', 'hgap', '/status', upload(address, incarnation), [
        `x-ms-containerid: ${container}`,
      ]);
      await ask(this.status(n));
    }
    connection.close();
  }

  goalState(n: number): string {
    return this.#request(n, 'GET', 'wire', '/machine/?comp=goalstate');
  }

  status(n: number): string {
    return this.#statuses[n] ?? '';
  }

  /** Returns one of the less frequent calls, in turn: health of the host and of the agent, instance metadata, telemetry. */
  minute(n: number, turn: number): string {
    const calls = [
      () => this.#request(n, 'GET', 'hgap', '/health'),
      () => this.#request(n, 'POST', 'wire', '/HealthService', observation),
      () => this.#request(n, 'GET', 'wire', '/metadata/instance?api-version=2018-02-01'),
      () => this.#request(n, 'POST', 'wire', '/machine?comp=telemetrydata', telemetry),
    ];
    return calls[turn % calls.length]?.() ?? '';
  }

  #request(n: number, method: string, side: string, path: string, body = '', headers: string[] = []): string {
    const { vmId = '', token = '' } = this.#vms[n] ?? {};
    const lines = [
      `${method} /${side}/${vmId}${path} HTTP/1.1`,
      ...['Host: gateway', `X-Guest-Token: ${token}`, 'User-Agent: WALinuxAgent/2.7.3.0', ...headers],
      ...(method === 'GET' ? [] : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`]),
    ];
    return `${lines.join('\r\n')}\r\n\r\n${body}`;
  }
}

const observation =
  '{"Api":"reporttargethealth","Version":"1.0","Source":"WALinuxAgent","Observations":[{"ObservationName":"GuestAgentPluginHeartbeat","IsHealthy":true,"Description":"","Value":""}]}';

const telemetry = `<?xml version="1.0"?><TelemetryData version="1.0"><Provider id="69B669B9-4AF8-4C50-BDC4-6006FA76E975"><Event id="1"><![CDATA[<Param Name="Name" Value="WALinuxAgent" T="mt:wstr" />]]></Event></Provider></TelemetryData>`;

/** Returns a status blob for one handler, in the format that the stock agent uploads. */
function upload(requestUri: string, incarnation: string): string {
  const formattedMessage = { lang: 'en-US', message: 'Mounted 3 shares; all of them answer.' };
  const status = { name: handler.handler, operation: 'Enable', status: 'success', code: 0, formattedMessage };
  const blob = {
    version: '1.1',
    timestampUTC: '2026-01-01T00:00:00Z',
    guestOSInfo: { computerName: 'guest', osName: 'debian', osVersion: '12.5', version: '2.7.3.0' },
    aggregateStatus: {
      guestAgentStatus: { version: '2.7.3.0', status: 'Ready', formattedMessage },
      handlerAggregateStatus: [
        {
          ...{ handlerName: handler.handler, handlerVersion: handler.version, status: 'Ready', code: 0 },
          ...{ useExactVersion: true, formattedMessage: { lang: 'en-US', message: 'Plugin enabled' } },
          runtimeSettingsStatus: {
            sequenceNumber: 1,
            settingsStatus: { version: 1.0, timestampUTC: '2026-01-01T00:00:00Z', status },
          },
        },
      ],
      vmArtifactsAggregateStatus: {
        goalStateAggregateStatus: { inSvdSeqNo: incarnation, status: 'Success', code: 0, formattedMessage },
      },
    },
  };
  const headers = [{ headerName: 'x-ms-blob-type', headerValue: 'BlockBlob' }];
  return JSON.stringify({ requestUri, headers, content: Buffer.from(JSON.stringify(blob)).toString('base64') });
}
