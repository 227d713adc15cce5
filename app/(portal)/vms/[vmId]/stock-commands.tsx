'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Banner } from '#app/_ui/banner.tsx';
import { CopyCommand } from '#app/_ui/copy.tsx';

const tokenFile = '/etc/annex/guest-token';

/** Commands for the machine that runs the VM's forwarder, with the token, which is shown only once. */
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
      <CopyCommand command={`curl -fsS ${gatewayUrl}/install | sudo sh -s -- --only-programs`} />
      <p className="text-12 text-ink-2">{t('vms:install.forwarder.run')}</p>
      <CopyCommand command={`echo ${token} | sudo install -D -m 600 /dev/stdin ${tokenFile}`} />
      <CopyCommand
        command={`sudo annex-agent wire-forward --dir /var/lib/annex-wire --gateway ${gatewayUrl} --vm ${vmId} --guest-token-file ${tokenFile}`}
      />
      <p className="text-12 text-ink-3">{t('enrollment:stock.steps')}</p>
    </div>
  );
}

/** Whether the forwarder accepts this URL. The forwarder sends its token only over TLS or to its own machine. */
function isTaken(gatewayUrl: string): boolean {
  const { protocol, hostname } = new URL(gatewayUrl);
  return protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}
