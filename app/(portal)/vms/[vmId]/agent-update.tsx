'use client';

import { type ComponentProps, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { CopyCommand } from '#app/_ui/copy.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';

type PopoverParts = typeof import('#app/_ui/popover.tsx');

const load = () => import('#app/_ui/popover.tsx');

/** Says that a newer version of the agent is available. On request, shows the command that updates the agent. */
export function AgentUpdate({ name, version }: { name: string; version: string }) {
  const { t } = useTranslation('vms');
  const [parts, setParts] = useState<PopoverParts>();
  const label = t('agent.available', { version });
  if (parts === undefined) {
    return (
      <UpdateButton
        aria-haspopup="dialog"
        aria-expanded={false}
        onPointerEnter={() => void load().catch(() => {})}
        onClick={() => void load().then(setParts, () => {})}
      >
        {label}
      </UpdateButton>
    );
  }
  const { Popover, PopoverTrigger, PopoverContent } = parts;
  return (
    <Popover defaultOpen>
      <PopoverTrigger asChild>
        <UpdateButton>{label}</UpdateButton>
      </PopoverTrigger>
      <PopoverContent aria-label={t('agent.update', { name })} className="w-[26rem]">
        <p className="mb-2 text-13">{t('agent.update.how', { name })}</p>
        <CopyCommand whole command="annex-agent update --dir /var/lib/annex-agent" />
        <p className="mt-2 text-12">
          <TextLink href="/vms?agentOutdated=yes">{t('agent.update.all')}</TextLink>
        </p>
      </PopoverContent>
    </Popover>
  );
}

function UpdateButton(props: ComponentProps<'button'>) {
  return (
    <button
      type="button"
      {...props}
      className="rounded-xs text-brand-text underline decoration-brand-line underline-offset-3 hover:decoration-current"
    />
  );
}
