"""The small project that the workbooks of this folder were built from."""

FILES = {
    "ledger.toml": 'language = "en"\n',
    "scenarios/parcels.csv": (
        "id,label,m,k,rebate\na/1,Alpha,64,16,\nb,Beta,32,8,5\nc,Gamma,16,0,2\nd,Delta,8,4,1\n"
    ),
    "scenarios/rates.csv": "id,name,speed\none,One,3.0\ntwo,Two,5.0\nsix,Six,6.0\n",
    "reports/models/work.toml": """
        [tables.parcels.fields]
        label = { kind = "text" }
        m = { kind = "integer" }
        k = { kind = "integer" }
        rebate = { kind = "integer", optional = true }
        [tables.rates.fields]
        name = { kind = "text" }
        speed = { display = "fixed 1" }
        [inputs]
        m = { kind = "integer", default = 100 }
        k = { kind = "integer", default = 3 }
        stages = { kind = "integer", default = 2 }
        [lookups]
        rate = { table = "rates", default = "one" }
        [columns.work]
        formula = "m * k * stages"
        display = "si 3"
        [columns.time]
        formula = "work / rate.speed"
        display = "fixed 1"
        [columns.slope]
        formula = "m / k"
        display = "fixed 1"
        [columns.verdict]
        formula = "f'slow ({time:fixed 1})' if time > 100 else 'fast'"
        """,
    "reports/parcels.toml": """
        title = "Parcels"
        models = ["work"]
        [sheets.grid]
        rows = "parcels"
        set = { rate = "one" }
        columns = ["label", "rebate", "work", "time", "slope", "verdict"]
        [sheets.one]
        set = { rate = "two" }
        [views.grid]
        sheet = "grid"
        columns = ["label", "work", "time", "slope", "verdict"]
        [views.one]
        kind = "record"
        sheet = "one"
        columns = ["m", "work", "time"]
        """,
}
