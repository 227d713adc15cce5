'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Banner } from '#app/_ui/banner.tsx';
import { CopyCommand } from '#app/_ui/copy.tsx';

const tokenFile = '/etc/annex/guest-token';

/** Commands for the machine that runs the VM's forwarder, with the token, which is shown only once. */
export function StockCommands({ vmId, gatewayUrl, token }: { vmId: string; gatewayUrl: string; token: string }) {
  const { t } = useTranslation(['enrollment', 'vms']);
  const ways = [
    { says: t('vms:enroll.file'), agent: 'annex-agent' },
    { says: t('vms:enroll.clone'), agent: 'npm run -s agent --' },
  ];
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-2">
      {isTaken(gatewayUrl) ? null : (
        <Banner boxed status="warning">
          {t('enrollment:stock.plain', { url: gatewayUrl })}
        </Banner>
      )}
      <CopyCommand command={`echo ${token} | sudo install -D -m 600 /dev/stdin ${tokenFile}`} />
      {ways.map(({ says, agent }) => (
        <section key={agent} className="grid grid-cols-[minmax(0,1fr)] gap-2">
          <p className="text-12 text-ink-2">{says}</p>
          <CopyCommand
            command={`sudo ${agent} wire-forward --dir /var/lib/annex-wire --gateway ${gatewayUrl} --vm ${vmId} --guest-token-file ${tokenFile}`}
          />
        </section>
      ))}
      <p className="text-12 text-ink-3">{t('enrollment:stock.steps')}</p>
    </div>
  );
}

/** Whether the forwarder accepts this URL. The forwarder sends its token only over TLS or to its own machine. */
function isTaken(gatewayUrl: string): boolean {
  const { protocol, hostname } = new URL(gatewayUrl);
  return protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}
