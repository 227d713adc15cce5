import type { StockGoalState } from '#server/domain/stock-agents/index.ts';
import { addresses } from './addresses.ts';
import { xmlOf } from './xml.ts';

/**
 * Renders the manifest of a handler. It lists only the version in the VM's goal state, so that the agent fetches no
 * other. Returns null if the goal state does not contain the handler.
 */
export function manifestXml(handler: string, { extensions }: StockGoalState): string | null {
  const extension = extensions.find(({ goal }) => goal.handler.toLowerCase() === handler.toLowerCase());
  if (extension === undefined) return null;
  const { goal, version } = extension;
  return xmlOf({
    PluginVersionManifest: {
      Plugins: { Plugin: [{ Version: version, Uris: { Uri: addresses.package(goal.package.sha256) } }] },
    },
  });
}

/** Renders the tenant key and its certificate, encrypted for the certificate in the request. */
export function certificatesXml(wrapped: Buffer, incarnation: number): string {
  const lines = wrapped.toString('base64').match(/.{1,64}/g) ?? [];
  return xmlOf({
    CertificateFile: {
      Version: '2012-11-30',
      Incarnation: String(incarnation),
      Format: 'Pkcs7BlobWithPfxContents',
      Data: lines.join('\n'),
    },
  });
}
