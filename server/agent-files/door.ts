import { readFileSync } from 'node:fs';
import path from 'node:path';
import { DomainError } from '#server/domain/error.ts';
import type { Config } from '#server/platform/env.ts';
import type { Core } from '#server/process/http.ts';
import { AgentDownloads } from './agent-downloads.ts';
import { type AgentFiles, agentFilesOnce } from './agent-files.ts';

/** The oldest version of Node that can run the agent. */
const minimumNode = '24.5';

const script = readFileSync(path.join(import.meta.dirname, 'installer.sh'), 'utf8');

/** Whether the path belongs to the installer and the files of the guest agent. */
export const isInstallPath = (at: string): boolean => at === '/install' || at.startsWith('/install/');

export interface InstallOptions {
  /** The time over which the rate of a download is measured. */
  periodMs?: number;
  /** The Node.js binary that machines download. */
  nodeFile?: string;
}

/** Serves the installer, the guest agent, its unit and Node, to everyone: none of them contains a secret. */
export function createInstallHandler(
  { gatewayUrl }: Pick<Config, 'gatewayUrl'>,
  { periodMs = 60_000, nodeFile = process.execPath }: InstallOptions = {},
): Core {
  const filesOf = agentFilesOnce(nodeFile);
  const downloads = new AgentDownloads(periodMs);

  return async (request, client) => {
    const at = new URL(request.url).pathname;
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      throw new DomainError('method_not_allowed', 'method_not_allowed', { params: { methods: 'GET, HEAD' } });
    }
    const files = await filesOf();
    const { agent, node } = files;
    const isHead = request.method === 'HEAD';
    switch (at) {
      case '/install':
        return text(installerText(files, gatewayUrl), isHead);
      case '/install/agent.json':
        return text(`${JSON.stringify(descriptionOf(files), null, 2)}\n`, isHead, 'application/json');
      case '/install/annex-agent.service':
        return text(files.unit, isHead);
      case `/install/${agent.name}`:
        return file(isHead ? null : downloads.small(agent, client), 'text/javascript; charset=utf-8', agent);
      case `/install/${node.name}`:
        return file(isHead ? null : downloads.large(node, client), 'application/octet-stream', node);
      case `/install/${agent.name}.sha256`:
        return text(`${agent.sha256}  ${agent.name}\n`, isHead);
      case `/install/${node.name}.sha256`:
        return text(`${node.sha256}  ${node.name}\n`, isHead);
      default:
        throw new DomainError('not_found', 'not_found');
    }
  };
}

function descriptionOf({ agent, node }: AgentFiles) {
  return {
    version: agent.version,
    path: `/install/${agent.name}`,
    sha256: agent.sha256,
    size: agent.size,
    minimumNode,
    node: {
      version: node.version,
      system: node.system,
      path: `/install/${node.name}`,
      sha256: node.sha256,
      size: node.size,
    },
  };
}

/** Returns the installer with the gateway's address and the checksums that it verifies. */
function installerText({ agent, node }: AgentFiles, gatewayUrl: string): string {
  const values: Readonly<Record<string, string>> = {
    GATEWAY: gatewayUrl,
    AGENT_VERSION: agent.version,
    AGENT_NAME: agent.name,
    AGENT_SHA256: agent.sha256,
    NODE_MINIMUM: minimumNode,
    NODE_VERSION: node.version,
    NODE_SYSTEM: node.system,
    NODE_NAME: node.name,
    NODE_SHA256: node.sha256,
    NODE_KIB: String(Math.ceil(node.size / 1024)),
  };
  return script.replace(/@([A-Z0-9_]+)@/g, (mark, name: string) => quoted(values[name] ?? mark));
}

/** Quotes a value for the shell. */
const quoted = (value: string): string => `'${value.replaceAll("'", `'\\''`)}'`;

function text(body: string, isHead: boolean, type = 'text/plain; charset=utf-8'): Response {
  return new Response(isHead ? null : body, {
    headers: { 'content-type': type, 'content-length': String(Buffer.byteLength(body)), 'cache-control': 'no-cache' },
  });
}

function file(body: BodyInit | null, type: string, { sha256, size }: { sha256: string; size: number }): Response {
  return new Response(body, {
    headers: {
      'content-type': type,
      'content-length': String(size),
      'cache-control': 'no-cache',
      etag: `"${sha256}"`,
    },
  });
}
