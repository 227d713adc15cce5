import { expect, type Page } from '@playwright/test';

/**
 * A page that is opened when it is whole, as it is for people, who are slower. What React streams arrives in a hidden
 * element and is put in its place a moment after the document has loaded; until then it stands there twice, or not
 * where readers see it. And a page listens to keys and clicks when its scripts have run: Next then adds the element
 * that tells those who hear the page where they are.
 */
export function openedWhole(page: Page): Page {
  const { goto, reload, goBack, goForward } = page;
  const whole = async <Answer>(opening: Promise<Answer>): Promise<Answer> => {
    const answer = await opening;
    await expect(page.locator('div[hidden][id^="S:"]')).toHaveCount(0);
    const isOurs = (await page.locator('script[src^="/_next/"]').count()) > 0;
    if (isOurs) await expect(page.locator('next-route-announcer')).toBeAttached();
    return answer;
  };
  return Object.assign(page, {
    goto: (...of: Parameters<Page['goto']>) => whole(goto.apply(page, of)),
    reload: (...of: Parameters<Page['reload']>) => whole(reload.apply(page, of)),
    goBack: (...of: Parameters<Page['goBack']>) => whole(goBack.apply(page, of)),
    goForward: (...of: Parameters<Page['goForward']>) => whole(goForward.apply(page, of)),
  });
}
