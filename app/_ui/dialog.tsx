'use client';

import { X } from 'lucide-react';
import * as Radix from 'radix-ui/dialog';
import { type KeyboardEvent, type ReactNode, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { IconButton } from './button.tsx';
import { cn } from './cn.ts';
import { focusFirstField } from './first-field.ts';
import { currentOpener, restoreFocus } from './opener.ts';
import { allowScrollLock } from './style-nonce.ts';

export const scrim = 'fixed inset-0 z-50 animate-fade bg-scrim';
export const sheet =
  'fixed top-1/2 left-1/2 z-50 grid max-h-[calc(100dvh-32px)] w-[min(440px,calc(100vw-24px))] -translate-x-1/2 -translate-y-1/2 grid-cols-[minmax(0,1fr)] gap-3 overflow-y-auto scroll-pb-20 rounded-xl bg-raised p-5 shadow-float outline-none [--cut:var(--raised)] animate-rise';

export interface DialogProps {
  open: boolean;
  onOpenChange(open: boolean): void;
  title: ReactNode;
  /** One or two sentences about the dialog's purpose. */
  description?: ReactNode;
  children?: ReactNode;
  /** Buttons; the button that performs the action comes last. */
  footer?: ReactNode;
  /** `wide` for tables and code. */
  size?: 'default' | 'wide';
}

/**
 * A dialog for an action that needs input. The focus stays inside, and returns to the previous element when the dialog
 * closes.
 */
export function Dialog({ open, onOpenChange, title, description, children, footer, size = 'default' }: DialogProps) {
  const { t } = useTranslation('common');
  const [opener] = useState(currentOpener);
  useState(allowScrollLock);
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className={scrim} />
        <Radix.Content
          {...(description === undefined ? { 'aria-describedby': undefined } : {})}
          onOpenAutoFocus={focusFirstField}
          onCloseAutoFocus={(event) => restoreFocus(event, opener)}
          onKeyDown={closeOnEscape(() => onOpenChange(false))}
          className={cn(sheet, size === 'wide' && 'w-[min(680px,calc(100vw-24px))]')}
        >
          <div className="flex items-start gap-2">
            <Radix.Title className="min-w-0 flex-1 text-16 font-semibold tracking-tight">{title}</Radix.Title>
            <Radix.Close asChild>
              <IconButton label={t('close')} size="sm" className="-me-1">
                <X aria-hidden />
              </IconButton>
            </Radix.Close>
          </div>
          {description === undefined ? null : (
            <Radix.Description className="text-pretty text-ink-2">{description}</Radix.Description>
          )}
          {children}
          {footer === undefined ? null : (
            // Stays visible while the reader scrolls a dialog that is taller than the window; the content fades out above
            // it. The scroll padding keeps focused fields above the footer.
            <div className="sticky -bottom-5 z-10 -mx-5 -mb-5 flex flex-wrap justify-end gap-2 rounded-b-xl bg-raised px-5 pt-1 pb-5 before:pointer-events-none before:absolute before:inset-x-0 before:bottom-full before:h-3 before:bg-linear-to-t before:from-raised before:to-transparent max-sm:*:grow">
              {footer}
            </div>
          )}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/**
 * Returns a handler that closes a dialog on Escape. Radix ignores the key until its next render if another dialog has
 * just closed.
 */
export const closeOnEscape = (close: () => void) => (event: KeyboardEvent) => {
  if (event.key === 'Escape' && !event.defaultPrevented) close();
};
