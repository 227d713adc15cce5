import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import type { GoalState, GoalStateExtension } from '#protocol/index.ts';
import { crashPoint } from '../folder/crash-point.ts';
import type { TranscriptPiece } from '../portal/execution-calls.ts';
import { noExecutions, type Portal } from '../portal/portal.ts';

export type MemoryGoal = Pick<GoalStateExtension, 'name' | 'handler' | 'version'> & Partial<GoalStateExtension>;

/** A portal in the same process with one goal state, for tests that start an agent hundreds of times. */
export class MemoryPortal implements Portal {
  /** Reported handler states, as `<extension> <state> <sequence number>`. */
  readonly states: string[] = [];
  /** Outputs by `<extension> <sequence> <command> <attempt>`. */
  readonly logs = new Map<string, Buffer>();
  private readonly packages = new Map<string, Buffer>();
  private readonly goal: GoalState;

  constructor(
    incarnation: number,
    extensions: MemoryGoal[],
    packages: { handler: string; version: string; zip: Buffer }[],
  ) {
    this.goal = {
      protocol: 1,
      vmId: 'vm',
      incarnation,
      extensions: extensions.map((one) => {
        const zip = packages.find(({ handler, version }) => handler === one.handler && version === one.version)?.zip;
        const sha256 = createHash('sha256')
          .update(zip ?? '')
          .digest('hex');
        if (zip !== undefined) this.packages.set(sha256, zip);
        return {
          state: 'enabled',
          sequenceNumber: incarnation,
          dependsOn: [],
          settings: { publicSettings: {} },
          timeouts: { install: 30, update: 30, enable: 30, disable: 30, uninstall: 30 },
          package: { sha256, size: zip?.length ?? 0, url: sha256 },
          ...one,
        };
      }),
    };
  }

  async goalState() {
    crashPoint('ask');
    const document = { text: JSON.stringify(this.goal), etag: `"${this.goal.incarnation}"` };
    return { document, pollAfter: 60, wantsLogs: false, executions: noExecutions };
  }

  async downloadPackage(url: string, file: string) {
    const zip = this.packages.get(url) ?? Buffer.alloc(0);
    crashPoint('download');
    writeFileSync(file, zip.subarray(0, zip.length / 2));
    crashPoint('half a download');
    writeFileSync(file, zip);
    crashPoint('downloaded');
  }

  async report(body: unknown) {
    crashPoint('report');
    const { handlers } = body as { handlers: { extension: string; state: string; sequenceNumber: number }[] };
    for (const { extension, state, sequenceNumber } of handlers) {
      this.states.push(`${extension} ${state} ${sequenceNumber}`);
    }
    crashPoint('reported');
    return { etag: null, refused: null, wantsLogs: false, executions: noExecutions };
  }

  async sendLog({ extension, sequence, command, attempt, bytes }: Parameters<Portal['sendLog']>[0]) {
    crashPoint('send an output');
    this.logs.set(`${extension} ${sequence} ${command} ${attempt}`, bytes);
    crashPoint('sent an output');
  }

  async logRequests() {
    return [];
  }

  async sendArchive() {}

  async renewCertificate() {}

  async describeAgent() {}

  async nextExecution(): Promise<string | null> {
    return null;
  }

  async sendProgress(): Promise<number | null> {
    return null;
  }

  async sendTranscript(_id: string, _piece: TranscriptPiece): Promise<{ received: number; nextAfter: number | null }> {
    return { received: 0, nextAfter: null };
  }

  async sendResult(_id: string, _text: string): Promise<void> {}

  async tellPlatforms() {}
}
