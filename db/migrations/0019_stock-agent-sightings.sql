ALTER TABLE "stock_agents" ADD COLUMN "published_versions" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "stock_agents" ADD COLUMN "sightings" jsonb DEFAULT '[]'::jsonb NOT NULL;