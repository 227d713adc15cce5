'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Banner } from '#app/_ui/banner.tsx';
import { CodeBlock } from '#app/_ui/code-block.tsx';
import { CopyButton, CopyCommand } from '#app/_ui/copy.tsx';
import { forwarderUnit, stockAgentSetup, tokenFile } from './stock-setup.ts';

/** Commands for a machine with the stock agent and its forwarder, with the token, which is shown only once. */
export function StockCommands({ vmId, gatewayUrl, token }: { vmId: string; gatewayUrl: string; token: string }) {
  const { t } = useTranslation(['enrollment', 'vms']);
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-2">
      {isTaken(gatewayUrl) ? null : (
        <Banner boxed status="warning">
          {t('enrollment:stock.plain', { url: gatewayUrl })}
        </Banner>
      )}
      <p className="text-12 text-ink-2">{t('vms:install.forwarder')}</p>
      <CopyCommand command={`curl -fsS ${gatewayUrl}/install | sh -s -- --only-programs`} />
      <p className="text-12 text-ink-2">{t('vms:install.forwarder.run')}</p>
      <CopyCommand command={`echo ${token} | install -D -m 600 /dev/stdin ${tokenFile}`} />
      <Script label={t('vms:install.forwarder.run')}>
        {`cat > /etc/systemd/system/annex-wire.service <<'UNIT'\n${forwarderUnit({ gatewayUrl, vmId })}UNIT\n`}
      </Script>
      <p className="text-12 text-ink-2">{t('vms:install.stock')}</p>
      <Script label={t('vms:install.stock')}>{stockAgentSetup}</Script>
      <p className="text-12 text-ink-3">{t('enrollment:stock.steps')}</p>
    </div>
  );
}

/** Several lines to copy, in a scrolling box. */
function Script({ label, children }: { label: string; children: string }) {
  return (
    <div className="relative">
      <CodeBlock code={children.trimEnd()} label={label} numbers={false} className="max-h-44 text-12" />
      <CopyButton text={children} className="absolute end-2 top-1 bg-sunken" />
    </div>
  );
}

/** Whether the forwarder accepts this URL. The forwarder sends its token only over TLS or to its own machine. */
function isTaken(gatewayUrl: string): boolean {
  const { protocol, hostname } = new URL(gatewayUrl);
  return protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}
