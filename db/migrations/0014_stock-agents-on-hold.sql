ALTER TABLE "stock_agents" ADD COLUMN "held_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "stock_agents" ADD COLUMN "held_by" text;--> statement-breakpoint
ALTER TABLE "stock_agents" ADD COLUMN "released_at" timestamp with time zone;